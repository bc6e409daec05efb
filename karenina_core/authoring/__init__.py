"""Help in writing templates: what is wrong with one, why an answer passes, and first drafts without a model."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

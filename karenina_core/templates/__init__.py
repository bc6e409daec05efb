"""Answer templates: source to something that can be evaluated, without trusting the source."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

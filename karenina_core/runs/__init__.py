"""Runs: what is wanted, carrying it out in the background, and the store that keeps everything."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

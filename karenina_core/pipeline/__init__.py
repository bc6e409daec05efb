"""The thirteen stages that turn a question into a result with its evidence.

Whatever happens on the way, the last stage gives a result; the first failure is the one it reports, and an error is
never a wrong answer. A judge never sees the truth, and no truth changes what it is asked. Reverifying a stored result
asks no model, and decides what a new run with the same extraction would.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Benchmarks: questions, templates and rubrics, and the files and tables they come from and go to.

What the tests hold: six dialects of benchmark files are read, each repair is reported, and nothing a file says is lost
by loading and saving it; what is read again is saved as the same bytes. Files and tables of strangers are read within
bounds, nothing in them is ever executed, and no export holds a formula. Workspaces stay below their root.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

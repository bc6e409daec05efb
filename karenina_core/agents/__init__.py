"""Agents: models that work with tools in a workspace, for answering and for inspecting what an answer left.

What its tests hold:

* Nothing outside of the workspace is read or written by a file tool, whatever a path or a link says.
* Originals are never touched while copies are asked for; what an agent produced is kept with the result.
* Every reply and every result of a tool is in the ledger: an agent that was killed goes on where it was.
* Reaching a limit ends the work, and the transcript stays.
* Commands run only where the run allows them, without keys, and end with everything they started.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Runs: what is wanted, carrying it out in the background, and the store that keeps everything.

The tests hold these invariants, however a run ends:

* Nothing that was reported is lost: a result or a reply counts only once it is committed.
* No stored call is made again, by whichever run or process.
* The account of a run is what its stored replies cost, and no reply is entered twice; replies lost in a kill are in
  neither.
* One process at a time carries a run out; when it dies, the run can be resumed.
* Every database and every snapshot of earlier versions opens, and its runs resume.
* An estimate asks nobody, and stored answers are decided again without a model call.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

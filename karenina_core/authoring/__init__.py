"""Help in writing templates: what is wrong with one, why an answer passes, and first drafts without a model.

Nothing here asks a model, and a template's own code runs only in its sandbox, never to lint it.
The tests hold:

- An explanation is the evidence that evaluating the template gives; no rule's verdict is put into words twice.
- Every fix that the linter offers makes its finding go away and leaves a template that can be read.
- A form is lossless: what it does not hold stays in the source, and what did not change stays byte for byte.
- What is typed and makes no template yet stays typed, and the source stays as it was.
- A draft accepts its own truth and does not give it away to the judge.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Results as tables, statistics, figures, sentences and files.

What holds, and the tests check:

- A table of a stored run, read from columns alone, says what the results themselves say.
- An error is never a wrong answer: rates are over evaluated rows, and every summary counts what it leaves out.
- Repeats of a question are not new evidence: intervals and tests are clustered by question.
- Statistics come from scipy, statsmodels and krippendorff, and give the values that were published.
- Every mark of a figure leads to the rows behind it; foreign text in figures and files is shown, never read as code.
- What is exported as JSON reads back equal; no file holds a key, and no cell a formula.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

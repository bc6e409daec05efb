"""Small tables for comparisons: every test states only the verdicts that matter to it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from karenina_core.analysis import Arm

_VERDICTS = {"+": "pass", "-": "fail", "0": "not_evaluated"}
_COLUMNS = [
    "run_id", "result_id", "question_id", "answering_model", "parsing_model", "replicate", "status", "verdict",
]  # fmt: skip


def rows(verdicts: Sequence[str], model: str = "A", judge: str = "judge", run: str = "r1") -> pd.DataFrame:
    """Return one question per text and one repeat per letter: `+` pass, `-` fail, `0` without a verdict."""
    return pd.DataFrame(
        [
            (run, f"{run}-{model}-{judge}-{place}-{repeat}", f"q{place}", model, judge, repeat, "completed", verdict)
            for place, letters in enumerate(verdicts)
            for repeat, verdict in enumerate((_VERDICTS[letter] for letter in letters), 1)
        ],
        columns=_COLUMNS,
    )


def joined(*tables: pd.DataFrame) -> pd.DataFrame:
    """Return several tables as one."""
    return pd.concat(tables, ignore_index=True)


def arm(model: str = "A", judge: str = "judge", run: str = "r1") -> Arm:
    """Return an arm of such a table."""
    return Arm(run, model, judge)

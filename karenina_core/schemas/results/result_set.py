"""The results of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from karenina_core.schemas.results.result import VerificationResult


class VerificationResultSet(Sequence[VerificationResult]):
    """The results of a run, in (question, answering model, judge, replicate) order.

    Attributes:
        run_id: The stored run, if there is one.
        note: What was left out of the run and why, in words; often empty.
    """

    def __init__(self, results: Sequence[VerificationResult], run_id: str | None = None, note: str = "") -> None:
        self._results = list(results)
        self.run_id = run_id
        self.note = note

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[VerificationResult]:
        return iter(self._results)

    def __getitem__(self, index: Any) -> Any:
        return self._results[index]

    def __repr__(self) -> str:
        counts = ", ".join(f"{number} {verdict}" for verdict, number in self.counts().items())
        return f"<{len(self)} results: {counts}>" + (f" {self.note}" if self.note else "")

    def counts(self) -> Mapping[str, int]:
        """Return the number of passes, fails and rows without a verdict."""
        verdicts = [result.verdict for result in self._results]
        return {verdict: verdicts.count(verdict) for verdict in ("pass", "fail", "not_evaluated")}

    def filter(self, **equals: Any) -> VerificationResultSet:
        """Return the results whose attributes equal the given values, such as `verdict="fail"`."""
        kept = [r for r in self._results if all(getattr(r, name) == value for name, value in equals.items())]
        return VerificationResultSet(kept, self.run_id)

    def to_dataframe(self, kind: str = "results") -> Any:
        """Return a pandas table; its columns are described in `karenina_core.analysis.columns`.

        Args:
            kind: What one row stands for: `results`, `fields`, `traits`, `metrics`, `calls` or `usage`.

        Raises:
            InputError: There is no table of that kind.
        """
        from karenina_core import to_dataframe

        return to_dataframe(self._results, kind)  # type: ignore[arg-type]

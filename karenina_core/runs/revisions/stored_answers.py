"""What models answered to a question so far, and what judges extracted from that."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from karenina_core.authoring import StoredAnswer
from karenina_core.runs.store import Store
from karenina_core.runs.store.results import decode
from karenina_core.schemas import Verdict, VerificationResult
from karenina_core.templates import TemplateSpec

MOST = 1_000
"""At most this many answers are read, the newest runs first."""


@dataclass(frozen=True)
class JudgedAnswer:
    """An answer that is stored, and what a judge extracted from it.

    Attributes:
        run_id: The newest run that has it.
        run_name: Its name.
        result_id: The result in it.
        answering_model: Who answered.
        parsing_model: Who extracted.
        replicate: Number of the repetition, from 1.
        verdict: The verdict that is stored.
        response: The answer's text.
        values: What was extracted, by field; None where no judge extracted anything.
        similarities: Cosine similarity and the truth it was computed with, by `SemanticMatch` field.
    """

    run_id: str
    run_name: str
    result_id: str
    answering_model: str
    parsing_model: str
    replicate: int
    verdict: Verdict
    response: str
    values: Mapping[str, Any] | None
    similarities: Mapping[str, tuple[float, Any]] = field(default_factory=dict)

    def known_to(self, spec: TemplateSpec) -> StoredAnswer | None:
        """Return what a template can decide on, or None where a judge was not asked for all of its fields."""
        values = self.values or {}
        if any(item.name not in values for item in spec.judged):
            return None
        truths = {item.name: item.ground_truth for item in spec.fields if item.is_semantic}
        similar = {name: value for name, (value, truth) in self.similarities.items() if truths.get(name) == truth}
        return StoredAnswer(values, self.response, similar)


def stored_answers(store: Store, question_id: str, most: int = MOST) -> list[JudgedAnswer]:
    """Return the stored answers to a question, of all runs, the newest runs first.

    The same answer with the same extraction counts once: a re-verified run copies what it was made from.

    Args:
        store: Holds the runs.
        question_id: The question.
        most: At most this many are returned.
    """
    found: dict[str, JudgedAnswer] = {}
    for run in store.runs.all():
        if len(found) >= most:
            break
        for text in store.results.texts(run.id, question_id=question_id):
            result = decode(text)
            if result.answer is not None:
                found.setdefault(_identity(result), _answer(result, run.id, run.name))
    return list(islice(found.values(), most))


def _identity(result: VerificationResult) -> str:
    parsed = result.template.parsed if result.template else None
    who = [result.answering_model, result.parsing_model, result.replicate]
    return json.dumps([*who, result.answer and result.answer.text, parsed], sort_keys=True, default=str)


def _answer(result: VerificationResult, run_id: str, run_name: str) -> JudgedAnswer:
    part = result.template
    return JudgedAnswer(
        run_id=run_id,
        run_name=run_name,
        result_id=result.result_id,
        answering_model=result.answering_model,
        parsing_model=result.parsing_model,
        replicate=result.replicate,
        verdict=result.verdict,
        response=result.answer.text if result.answer else "",
        values=part.parsed if part else None,
        similarities={
            item.name: (item.similarity, item.expected)
            for item in (part.fields if part else ())
            if item.similarity is not None
        },
    )

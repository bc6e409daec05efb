"""What evaluating a template gives, and how verified fields are decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from pydantic_core import to_jsonable_python

from karenina_core.patterns import PatternTimeoutError
from karenina_core.schemas import Condition, FieldEvidence, FieldResult, all_of, built
from karenina_core.schemas.primitives import (
    Explanation,
    Primitive,
    SemanticMatch,
    TracePrimitive,
)
from karenina_core.templates.limits import refuse
from karenina_core.templates.spec import FieldSpec, TemplateSpec

T = TypeVar("T")
NOTHING_FOUND = "The judge found nothing in the response."


@dataclass(frozen=True)
class Evaluation:
    """The outcome of a template for one response.

    Attributes:
        fields: The evidence, field by field.
        verdict: Whether the answer is right; None while fields are pending.
        granular: The weighted share of right fields, 0 to 1; None where it is not computed.
        pending: `SemanticMatch` fields that wait for their similarity.
        expected: The template's expected values.
        values: What was evaluated, for `Template.complete`.
        raw_trace: The response, for `Template.complete`.
    """

    fields: tuple[FieldEvidence, ...]
    verdict: bool | None
    granular: float | None
    pending: tuple[str, ...] = ()
    expected: Any = None
    values: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    raw_trace: str = field(default="", repr=False, compare=False)

    @property
    def results(self) -> dict[str, FieldResult]:
        """Result by verified field."""
        return {item.name: item.result for item in self.fields if item.rule is not None}


@dataclass(frozen=True)
class Rule:
    """A verified field, ready to be decided.

    Attributes:
        spec: The field.
        primitive: Its rule.
        line: Its line in the source, for errors.
    """

    spec: FieldSpec
    primitive: Primitive
    line: int | None

    def decide(self, value: Any, raw_trace: str) -> FieldEvidence:
        """Return the evidence for an extracted value, or for the response in the case of trace rules.

        Raises:
            TemplateError: `timeout` when a pattern takes too long, `raised` when a custom primitive fails.
        """
        spec, rule = self.spec, self.primitive
        if isinstance(rule, TracePrimitive):
            explanation = self._guarded(rule.explain_trace, raw_trace)
            held = explanation.passed == bool(spec.ground_truth)
            return evidence(spec, explanation.passed, bool(held), explanation, reads_trace=True)
        if value is None:
            return nothing_found(spec, rule.uses_ground_truth)
        if isinstance(rule, SemanticMatch) and spec.is_semantic:
            explanation = Explanation(False, (), "Waits for the embedding check.")
            return evidence(spec, plain(value), None, explanation)
        explanation = self._guarded(rule.explain, value, spec.ground_truth)
        return evidence(spec, plain(value), bool(explanation.passed), explanation, uses_truth=rule.uses_ground_truth)

    def check(self, value: Any, raw_trace: str) -> FieldResult:
        """Return the bare result; None where the judge found nothing, or a similarity has to be known first.

        Raises:
            TemplateError: As `decide`.
        """
        rule = self.primitive
        if isinstance(rule, TracePrimitive):
            return bool(self._guarded(rule.check_trace, raw_trace)) == bool(self.spec.ground_truth)
        if value is None or isinstance(rule, SemanticMatch):
            return None
        return bool(self._guarded(rule.check, value, self.spec.ground_truth))

    def _guarded(self, work: Callable[..., T], *values: Any) -> T:
        try:
            return work(*values)
        except PatternTimeoutError as error:
            raise refuse("timeout", error.what, error.why, error.next, line=self.line) from None
        except Exception as error:
            name = type(self.primitive).__name__
            raise refuse("raised", f"{name} raised {type(error).__name__}", str(error), line=self.line) from error


def evidence(
    spec: FieldSpec,
    extracted: Any,
    result: FieldResult,
    explanation: Explanation,
    *,
    uses_truth: bool = True,
    reads_trace: bool = False,
) -> FieldEvidence:
    """Return the evidence of a verified field.

    Args:
        spec: The field.
        extracted: What was found, as JSON data.
        result: What that is worth.
        explanation: How the rule came to it.
        uses_truth: Whether the ground truth of the field decided anything.
        reads_trace: Whether the rule reads the raw response.
    """
    return built(
        FieldEvidence,
        name=spec.name,
        expected=spec.ground_truth if uses_truth else None,
        extracted=extracted,
        result=result,
        rule=spec.verify_with,
        weight=spec.weight,
        is_trace=reads_trace,
        steps=[(step.label, step.before, step.after) for step in explanation.steps],
        reason=explanation.reason,
        similarity=None,
    )


def nothing_found(spec: FieldSpec, uses_truth: bool = True) -> FieldEvidence:
    """Return the evidence of a verified field for which the judge found nothing."""
    explanation = Explanation(False, (), NOTHING_FOUND)
    return evidence(spec, None, None, explanation, uses_truth=uses_truth, reads_trace=spec.is_trace)


class Outline(NamedTuple):
    """What has to be known of all verified fields of a template together, found out in one go.

    Attributes:
        truths: The ground truths by field.
        weights: Share in the granular score, by field.
        strategy: Which fields must be right.
        semantic: The fields that the embedding check decides.
    """

    truths: dict[str, Any]
    weights: dict[str, float]
    strategy: Condition
    semantic: tuple[str, ...]

    @classmethod
    def of(cls, spec: TemplateSpec) -> Outline:
        """Return the outline of a template; without a strategy all fields must be right."""
        truths = {item.name: item.ground_truth for item in spec.verified}
        weights = {item.name: item.weight for item in spec.verified}
        semantic = tuple(item.name for item in spec.verified if item.is_semantic)
        return cls(truths, weights, spec.verify_strategy or all_of(tuple(weights)), semantic)

    def decide(self, results: Mapping[str, FieldResult]) -> tuple[bool | None, float | None]:
        """Return verdict and granular score; None where no field is verified."""
        if not self.truths:
            return None, None
        return self.strategy.passes(results), self.strategy.score(results, self.weights)


def with_similarity(evidence: FieldEvidence, passed: bool, similarity: float) -> FieldEvidence:
    """Return the evidence of a `SemanticMatch` field whose similarity is known."""
    rule = SemanticMatch.model_validate({key: value for key, value in (evidence.rule or {}).items() if key != "type"})
    reason = rule.explain_similarity(similarity).reason
    return evidence.model_copy(update={"result": passed, "similarity": similarity, "reason": reason})


def unverified(item: FieldSpec, value: Any, expected: Any) -> FieldEvidence:
    """Return the evidence of a field that no primitive decides."""
    known = expected.get(item.name) if isinstance(expected, dict) else None
    reason = NOTHING_FOUND if value is None else ""
    return FieldEvidence(name=item.name, expected=known, extracted=plain(value), reason=reason)


def plain(value: Any) -> Any:
    """Return a value as JSON data."""
    return to_jsonable_python(value, fallback=repr)

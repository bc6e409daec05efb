"""What one evaluation leaves behind: status, verdict, and the evidence for both.

Status (did the machine do its work) and verdict (was the answer right) are separate: an error is never a wrong
answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from karenina_core.errors import RequestCategory, RetryableCategory
from karenina_core.schemas.entities.question import now


class Part(BaseModel):
    """A part of a result; keys it does not know are refused."""

    model_config = ConfigDict(extra="forbid")


AnyPart = TypeVar("AnyPart", bound=Part)
_set = object.__setattr__
_all_set: dict[type, set[str]] = {}  # by class; shared by all its parts, for every field of theirs is set


def built(kind: type[AnyPart], **values: Any) -> AnyPart:
    """Return a part of a result whose values are known to be right, without looking at them again.

    The evidence of one evaluation has thirty parts; checking what was made a moment ago takes longer than making it.

    Args:
        kind: The class.
        **values: All of its fields, in their order.
    """
    part = kind.__new__(kind)
    _set(part, "__dict__", values)
    _set(part, "__pydantic_fields_set__", _all_set.get(kind) or _all_set.setdefault(kind, set(values)))
    _set(part, "__pydantic_extra__", None)
    _set(part, "__pydantic_private__", None)
    return part


class Usage(Part):
    """Tokens and money of one or several calls.

    Attributes:
        input_tokens: Tokens sent; None when the provider did not say.
        output_tokens: Tokens received.
        cost: US dollars; None when no price is known.
        calls: Number of model calls, answered from the ledger or not.
        cached_calls: How many of them the ledger answered.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    calls: int = 0
    cached_calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        return total_usage((self, other))


def total_usage(usages: Sequence[Usage]) -> Usage:
    """Return what several calls took together; what none of them says is None."""
    return built(
        Usage,
        input_tokens=_total([usage.input_tokens for usage in usages]),
        output_tokens=_total([usage.output_tokens for usage in usages]),
        cost=_total([usage.cost for usage in usages]),
        calls=sum([usage.calls for usage in usages]),
        cached_calls=sum([usage.cached_calls for usage in usages]),
    )


def _total(values: Sequence[Any]) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


class CallRecord(Part):
    """One model call as evidence: what was sent, what came back, where it came from.

    Attributes:
        purpose: `answer`, `parse`, `rubric`, `metric`, `abstention` or `sufficiency`.
        part: Trait name for calls about one trait.
        model: Label of the model.
        key: Ledger key: SHA-256 of exactly what was sent.
        source: `provider`, `ledger`, `recording`, `manual` or `local`.
        seconds: Wall time of the call.
    """

    purpose: str
    part: str = ""
    model: str
    key: str
    source: str
    messages: list[dict[str, Any]]
    schema_sent: dict[str, Any] | None = None
    reply: str | None = None
    finish_reason: str | None = None
    usage: Usage = Field(default_factory=Usage)
    seconds: float = 0.0
    provenance: dict[str, Any] = Field(default_factory=dict)


Status = Literal["completed", "failed", "skipped"]
Verdict = Literal["pass", "fail", "not_evaluated"]
FailureCategory = Literal[
    RetryableCategory,
    RequestCategory,
    "recursion_limit",
    "trace_validation",
    "deep_judgment",
    "deep_judgment_rubric",
    "abstention",
    "sufficiency",
    "truncated",
    "empty",
    "missing_recording",
    "cancelled",
    "no_template",
    "template_validation",
    "template_execution",
    "workspace",
    "parsing",
    "embedding",
    "unexpected",
]
_GROUPS: dict[str, tuple[str, ...]] = {
    "autofail": ("recursion_limit", "trace_validation", "deep_judgment", "deep_judgment_rubric"),
    "abstained": ("abstention", "sufficiency"),
    "template": ("no_template", "template_validation", "template_execution", "workspace"),
    "judge": ("parsing", "embedding"),
}


NO_VERDICT = "no_verdict"
"""Stands for evaluations without a template: nothing failed, and nothing was to be decided."""

FAILURE_WORDS: dict[str, str] = {
    NO_VERDICT: "only the rubric was evaluated",
    "recursion_limit": "the agent was stopped at a limit",
    "trace_validation": "the answer's trace could not be used",
    "deep_judgment": "no excerpt of the answer supported the extraction",
    "deep_judgment_rubric": "no excerpt of the answer supported a trait",
    "abstention": "the model declined to answer",
    "sufficiency": "the answer does not say enough to fill the template",
    "timeout": "the model took too long",
    "connection": "the model could not be reached",
    "rate_limit": "the provider's rate limit was reached",
    "server_error": "the provider reported an error of its own",
    "authentication": "the provider did not accept the key, or there is none",
    "not_found": "the provider does not know the model",
    "bad_request": "the provider refused the request",
    "context_length": "the text was too long for the model",
    "refused": "the provider's filter refused the request",
    "truncated": "the reply was cut off at the token limit",
    "empty": "the model returned nothing",
    "missing_recording": "the recording holds no such call",
    "cancelled": "the run was cancelled",
    "no_template": "the question has no template",
    "template_validation": "the template could not be read",
    "template_execution": "the template's own code failed",
    "workspace": "the question's workspace cannot be used",
    "parsing": "the judge's reply could not be read",
    "embedding": "the similarity could not be computed",
    "unexpected": "an unexpected error happened",
}
"""What each failure category means, as the end of a sentence."""


def failure_in_words(category: str) -> str:
    """Return what a category means, such as `the model took too long`."""
    return FAILURE_WORDS.get(category, category.replace("_", " "))


def failures_in_words(counts: Mapping[str, int]) -> str:
    """Return counts by category, the most frequent first, such as `2 × the model declined to answer`."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} × {failure_in_words(category)}" for category, count in ordered)


class Failure(Part):
    """Why an evaluation did not reach a verdict by its rules, and where.

    Attributes:
        category: The kind of failure.
        stage: The pipeline stage it belongs to.
        reason: One or two sentences for people.
        line: Line in the template source, for template failures.
    """

    category: FailureCategory
    stage: str
    reason: str
    line: int | None = None

    @property
    def group(self) -> str:
        """The class of failure: autofail, abstained, template, judge or provider."""
        return next((group for group, categories in _GROUPS.items() if self.category in categories), "provider")


class FileChange(Part):
    """A file that an agent added, changed or removed in its workspace.

    Attributes:
        path: Below the workspace.
        change: What became of it.
        sha256: Of its content; None for one that was removed.
        bytes: Its size.
        text: The content of an added text file, the difference of a changed one; None for what is no text or too long.
    """

    path: str
    change: Literal["added", "changed", "removed"]
    sha256: str | None = None
    bytes: int = 0
    text: str | None = None


class AnswerPart(Part):
    """What the answering model said.

    Attributes:
        addresses_judge: Whether it seems to speak to its judge, so that a person should look at the result.
        call: The call that gave the text.
        earlier_calls: What an agent was asked before that.
        transcript: All messages of an agent: prompt, replies with tool calls, results of tools.
        limit: The limit at which an agent was stopped.
        files: What an agent changed in its workspace.
    """

    text: str
    finish_reason: str | None = None
    truncated: bool = False
    addresses_judge: bool = False
    call: CallRecord | None = None
    earlier_calls: list[CallRecord] = Field(default_factory=list)
    transcript: list[dict[str, Any]] = Field(default_factory=list)
    limit: str | None = None
    files: list[FileChange] = Field(default_factory=list)


class GuardPart(Part):
    """Outcome of the abstention or the sufficiency check."""

    performed: bool
    detected: bool | None = None
    reasoning: str = ""
    call: CallRecord | None = None


class SimilarityPart(Part):
    """Similarity of the whole response to the expected answer; never changes the verdict."""

    performed: bool
    similarity: float | None = None
    threshold: float | None = None
    similar: bool | None = None
    model: str | None = None
    reason: str = ""


class FieldEvidence(Part):
    """One template field: what was expected, what was found, and how the rule decided.

    Attributes:
        result: True, False, or None when the judge found nothing or nothing was decided.
        rule: The primitive in its stored form; None for fields a template's own code compares.
        steps: Label, before and after of every step, as text.
        similarity: Cosine similarity, for `SemanticMatch` fields.
    """

    name: str
    expected: Any = None
    extracted: Any = None
    result: bool | None = None
    rule: dict[str, Any] | None = None
    weight: float = 1.0
    is_trace: bool = False
    steps: list[tuple[str, str, str]] = Field(default_factory=list)
    reason: str = ""
    similarity: float | None = None


class TemplatePart(Part):
    """The outcome of the answer template."""

    template_id: str
    style: str
    parsed: dict[str, Any] | None = None
    expected: Any = None
    verify_result: bool | None = None
    verify_granular_result: float | None = None
    fields: list[FieldEvidence] = Field(default_factory=list)
    composition_strategy: str | None = None
    calls: list[CallRecord] = Field(default_factory=list)

    @property
    def field_results(self) -> dict[str, bool | None]:
        """Result by verified field."""
        return {item.name: item.result for item in self.fields if item.rule is not None}


class ConfusionPart(Part):
    """The items of a metric trait by bucket.

    Attributes:
        expected_fp: Those of `fp` that the trait lists as usual mistakes; the others are unexpected.
        expected_fn: Those of `fn` that the trait lists as usually missed.
        not_mentioned: Items that a classification passes over; they count nowhere.
        undefined: Metrics whose denominator is 0.
    """

    tp: list[str] = Field(default_factory=list)
    fp: list[str] = Field(default_factory=list)
    tn: list[str] = Field(default_factory=list)
    fn: list[str] = Field(default_factory=list)
    expected_fp: list[str] = Field(default_factory=list)
    expected_fn: list[str] = Field(default_factory=list)
    not_mentioned: list[str] = Field(default_factory=list)
    undefined: list[str] = Field(default_factory=list)


class RubricPart(Part):
    """The outcome of all traits.

    Attributes:
        scores: LLM traits: a whole number, or True/False for binary ones, or the class index.
        labels: Class names of literal traits.
        regex: Pattern traits.
        metrics: Metric traits: metric name to value, 0 to 1.
        confusion: Metric traits: the items behind the values.
        reasons: What the judge said, by trait.
        errors: Why a trait has no value, by trait.
        provenance: `global` or `question_specific`, by trait.
    """

    performed: bool = False
    scores: dict[str, int | bool] = Field(default_factory=dict)
    labels: dict[str, str] = Field(default_factory=dict)
    regex: dict[str, bool] = Field(default_factory=dict)
    metrics: dict[str, dict[str, float]] = Field(default_factory=dict)
    confusion: dict[str, ConfusionPart] = Field(default_factory=dict)
    reasons: dict[str, str] = Field(default_factory=dict)
    errors: dict[str, str] = Field(default_factory=dict)
    provenance: dict[str, str] = Field(default_factory=dict)
    calls: list[CallRecord] = Field(default_factory=list)


class RowKey(NamedTuple):
    """The identity of a result everywhere: question, answering model, judge, replicate (from 1)."""

    question_id: str
    answering_model: str
    parsing_model: str
    replicate: int


class QuestionSnapshot(Part):
    """The question as it was when it was evaluated."""

    id: str
    question: str
    raw_answer: str
    keywords: list[str] = Field(default_factory=list)
    author: dict[str, Any] | None = None
    sources: list[dict[str, Any]] | None = None


class StageRecord(Part):
    """What one stage did: `ran`, `off`, `skipped` or `failed`, and why; results share records that are equal."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    state: Literal["ran", "off", "skipped", "failed"]
    note: str = ""
    seconds: float = 0.0


class VerificationResult(Part):
    """One evaluation: question × answering model × judge × replicate.

    Attributes:
        partial_answer: What had arrived of an answer that broke off; nothing judges it.
    """

    question: QuestionSnapshot
    answering_model: str
    parsing_model: str
    replicate: int = 1
    status: Status
    verdict: Verdict
    failure: Failure | None = None
    answer: AnswerPart | None = None
    partial_answer: str | None = None
    template: TemplatePart | None = None
    similarity: SimilarityPart | None = None
    rubric: RubricPart = Field(default_factory=RubricPart)
    abstention: GuardPart | None = None
    sufficiency: GuardPart | None = None
    stages: list[StageRecord] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    usage: Usage = Field(default_factory=Usage)
    seconds: float = 0.0
    timestamp: str = Field(default_factory=now)
    run_name: str | None = None

    @property
    def key(self) -> RowKey:
        """The identity of this result."""
        return RowKey(self.question.id, self.answering_model, self.parsing_model, self.replicate)

    @property
    def result_id(self) -> str:
        """Sixteen hex digits that name this row in links."""
        return result_id(self.key)

    @property
    def question_id(self) -> str:
        """The id of the question."""
        return self.question.id

    @property
    def rubric_scores(self) -> dict[str, int | bool]:
        """Values of the LLM traits."""
        return self.rubric.scores

    @property
    def manual_rubric_results(self) -> dict[str, bool]:
        """Values of the regex traits."""
        return self.rubric.regex

    @property
    def metric_rubric_results(self) -> dict[str, dict[str, float]]:
        """Values of the metric traits."""
        return self.rubric.metrics

    @property
    def raw_llm_response(self) -> str | None:
        """The response text, if there is one."""
        return self.answer.text if self.answer else None

    @property
    def verify_result(self) -> bool | None:
        """True, False, or None when nothing was decided."""
        return {"pass": True, "fail": False, "not_evaluated": None}[self.verdict]

    @property
    def verify_granular_result(self) -> float | None:
        """The weighted share of right fields, 0 to 1."""
        return self.template.verify_granular_result if self.template else None


def result_id(key: RowKey) -> str:
    """Return the sixteen hex digits that name a row in links."""
    return hashlib.sha256("\t".join(map(str, key)).encode()).hexdigest()[:16]


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
            kind: What one row stands for: `results`, `fields`, `traits` or `calls`.

        Raises:
            InputError: There is no table of that kind.
        """
        from karenina_core import to_dataframe

        return to_dataframe(self._results, kind)  # type: ignore[arg-type]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ExtractedQuestion(_Part):
    """Which question it is."""

    id: str
    question: str


class ExtractedAnswer(_Part):
    """What the answering model said."""

    text: str


class ExtractedCall(_Part):
    """What the judge was asked for."""

    schema_sent: dict[str, Any] | None = None


class ExtractedTemplate(_Part):
    """What the judge found."""

    parsed: dict[str, Any] | None = None
    calls: list[ExtractedCall] = []


class Extraction(_Part):
    """Identity, answer, extraction and verdict of a row."""

    question: ExtractedQuestion
    answering_model: str
    parsing_model: str
    replicate: int = 1
    verdict: Verdict
    failure: Failure | None = None
    answer: ExtractedAnswer | None = None
    template: ExtractedTemplate | None = None

    @property
    def key(self) -> RowKey:
        """The identity of the row."""
        return RowKey(self.question.id, self.answering_model, self.parsing_model, self.replicate)


FieldState = Literal["right", "wrong", "not_found", "undecided", "own"]
"""`not_found`: the judge found no value; `own`: the template's own code compares it, so no rule is right or wrong."""


def field_state(result: VerificationResult, item: FieldEvidence) -> FieldState:
    """Return what became of a field of a result."""
    if item.rule is None:
        return "own"
    if item.result is not None:
        return "right" if item.result else "wrong"
    extraction_took_place = result.template is not None and bool(result.template.parsed)
    return "not_found" if extraction_took_place and item.extracted is None else "undecided"

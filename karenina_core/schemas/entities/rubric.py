"""Rubrics: traits that describe the quality of a response, beside the verdict of its template."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from karenina_core import patterns

MetricName = Literal["precision", "recall", "f1", "accuracy", "specificity"]
METRICS_BY_MODE: dict[str, tuple[MetricName, ...]] = {
    "tp_only": ("precision", "recall", "f1"),
    "full_matrix": ("precision", "recall", "f1", "accuracy", "specificity"),
}


class _Trait(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    name: str = Field(min_length=1, max_length=255)
    description: str | None = None
    summary: str | None = None

    @field_validator("name")
    @classmethod
    def _plain_name(cls, name: str) -> str:
        if not name.strip():
            raise ValueError("a trait needs a name")
        if any(character in name for character in "\n\r\0"):
            raise ValueError("a trait name is one line of text")
        return name


class RubricTrait(_Trait):
    """A quality the judge assesses.

    Attributes:
        kind: `score` (a whole number from `min_score` to `max_score`), `binary` (also spelled `boolean`),
            or `literal` (one of `classes`).
        classes: For `literal`: class name to description, 2 to 20 of them, in their order.
        higher_is_better: Direction, for charts and comparisons; None where there is none.
    """

    type: Literal["llm"] = "llm"
    kind: Literal["score", "binary", "boolean", "literal"] = "score"
    min_score: int = 1
    max_score: int = 5
    classes: dict[str, str] | None = None
    higher_is_better: bool | None = True

    @property
    def is_binary(self) -> bool:
        """Whether the judge answers yes or no."""
        return self.kind in ("binary", "boolean")

    @model_validator(mode="after")
    def _consistent(self) -> RubricTrait:
        if self.kind == "score" and self.min_score >= self.max_score:
            raise ValueError(f"min_score {self.min_score} must be below max_score {self.max_score}")
        if self.kind == "literal" and not 2 <= len(self.classes or {}) <= 20:
            raise ValueError("a literal trait needs 2 to 20 classes")
        if self.kind != "literal" and self.classes:
            raise ValueError("classes belong to literal traits only")
        return self


class ManualRubricTrait(_Trait):
    """A pattern searched in the response; deterministic.

    Attributes:
        pattern: A regular expression, found anywhere in the text. Refused when it does not compile.
        case_sensitive: Whether letters must match in case.
        invert: Fail when the pattern is found. `invert_result` is accepted as well.
    """

    type: Literal["regex"] = "regex"
    pattern: str
    case_sensitive: bool = True
    invert: bool = Field(default=False, alias="invert_result")
    higher_is_better: bool | None = True

    @property
    def invert_result(self) -> bool:
        """The newer name of `invert`."""
        return self.invert

    def evaluate(self, text: str) -> bool:
        """Say whether a response has the quality: the pattern is found in it, or is not where `invert` is set.

        Raises:
            PatternTimeoutError: The search exceeded its budget.
        """
        return patterns.found(self.pattern, text, () if self.case_sensitive else ("IGNORECASE",)) != self.invert

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        patterns.validate(pattern)
        return pattern


class MetricRubricTrait(_Trait):
    """A classification the judge reads out of the response and code turns into a confusion matrix.

    The mode follows from the instructions: `full_matrix` when both `tp_instructions` and `tn_instructions` are
    given, otherwise `tp_only`. Metrics that the mode cannot compute are refused.

    Attributes:
        metrics: What to compute; at least one.
        tp_instructions: Items that should be identified (the positive class).
        tn_instructions: Items that should be classified as negative.
        fp_instructions: Expected mistakes among the positives, for highlighting.
        fn_instructions: Expected misses, for highlighting.
        repeated_extraction: Count an item once, however often the response mentions it.
    """

    type: Literal["metric"] = "metric"
    metrics: list[MetricName] = Field(min_length=1)
    tp_instructions: list[str] = Field(min_length=1)
    fp_instructions: list[str] = Field(default_factory=list)
    tn_instructions: list[str] = Field(default_factory=list)
    fn_instructions: list[str] = Field(default_factory=list)
    repeated_extraction: bool = True
    evaluation_mode: Literal["tp_only", "full_matrix"] | None = None
    higher_is_better: bool | None = None

    @model_validator(mode="after")
    def _settle_mode(self) -> MetricRubricTrait:
        if self.evaluation_mode == "full_matrix" and not self.tn_instructions:
            raise ValueError("full_matrix needs tn_instructions: the items of the negative class")
        if self.evaluation_mode is None:
            self.evaluation_mode = "full_matrix" if self.tn_instructions else "tp_only"
        unavailable = [name for name in self.metrics if name not in METRICS_BY_MODE[self.evaluation_mode]]
        if unavailable:
            raise ValueError(
                f"{', '.join(unavailable)} cannot be computed in {self.evaluation_mode} mode, "
                "which has no true negatives; add tn_instructions or remove the metric"
            )
        return self


class StoredTrait(_Trait):
    """A trait of a kind this workbench keeps but does not evaluate, such as a pickled callable.

    Attributes:
        kind: What it is, such as `callable`, `agentic`, `dynamic` or `template`.
        rating: The rating exactly as the file held it, written back unchanged.
        problem: Why a trait of an otherwise known kind is not usable, such as a missing pattern.
    """

    type: Literal["stored"] = "stored"
    kind: str
    rating: dict[str, Any]
    problem: str | None = None
    higher_is_better: bool | None = None

    REASONS: ClassVar[dict[str, str]] = {
        "callable": "its code comes from a file and is never loaded",
        "agentic": "agent traits are not evaluated",
        "dynamic": "dynamic traits are not evaluated",
        "template": "schema traits are not evaluated",
    }

    @property
    def reason(self) -> str:
        """Why it is not evaluated, in words."""
        return self.problem or self.REASONS.get(self.kind, "its kind is not known here")


Trait = Annotated[
    RubricTrait | ManualRubricTrait | MetricRubricTrait | StoredTrait,
    Field(discriminator="type"),
]
AnyTrait = RubricTrait | ManualRubricTrait | MetricRubricTrait | StoredTrait
_LIST_TYPES = {"llm_traits": "llm", "regex_traits": "regex", "metric_traits": "metric"}


class Rubric(BaseModel):
    """A named collection of traits of any kind.

    `Rubric(traits=[...])` takes them mixed; the typed lists `llm_traits`, `regex_traits` and `metric_traits`
    are accepted too and readable as views. Trait names are unique within a rubric.
    """

    model_config = ConfigDict(extra="forbid")

    name: str | None = None
    description: str | None = None
    traits: list[Trait] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        data = dict(data)
        traits = [_with_type(trait) for trait in data.pop("traits", None) or []]
        for key in ("callable_traits", "agentic_traits"):
            if data.pop(key, None):
                raise ValueError(
                    f"{key} cannot be evaluated here; they are only kept in benchmark files that hold them"
                )
        for key, kind in _LIST_TYPES.items():
            traits += [_with_type(trait, kind) for trait in data.pop(key, None) or []]
        return {**data, "traits": traits}

    @model_validator(mode="after")
    def _unique_names(self) -> Rubric:
        counts = Counter(trait.name for trait in self.traits)
        repeated = sorted(name for name, count in counts.items() if count > 1)
        if repeated:
            raise ValueError(f"trait names must be unique in a rubric: {', '.join(repeated)}")
        return self

    @property
    def llm_traits(self) -> list[RubricTrait]:
        """The traits a judge assesses."""
        return [trait for trait in self.traits if isinstance(trait, RubricTrait)]

    @property
    def regex_traits(self) -> list[ManualRubricTrait]:
        """The pattern traits."""
        return [trait for trait in self.traits if isinstance(trait, ManualRubricTrait)]

    @property
    def metric_traits(self) -> list[MetricRubricTrait]:
        """The classification traits."""
        return [trait for trait in self.traits if isinstance(trait, MetricRubricTrait)]

    @property
    def stored_traits(self) -> list[StoredTrait]:
        """The traits that are kept but not evaluated."""
        return [trait for trait in self.traits if isinstance(trait, StoredTrait)]

    def trait(self, name: str) -> AnyTrait | None:
        """Return the trait of that name, or None."""
        return next((trait for trait in self.traits if trait.name == name), None)

    def get_trait_names(self) -> list[str]:
        """Return the names of all traits, in their order."""
        return [trait.name for trait in self.traits]

    def get_llm_trait_names(self) -> list[str]:
        """Return the names of the traits a judge assesses."""
        return [trait.name for trait in self.llm_traits]

    def get_regex_trait_names(self) -> list[str]:
        """Return the names of the pattern traits."""
        return [trait.name for trait in self.regex_traits]

    def get_metric_trait_names(self) -> list[str]:
        """Return the names of the classification traits."""
        return [trait.name for trait in self.metric_traits]

    def get_callable_trait_names(self) -> list[str]:
        """Return the names of the callables, which are kept but not evaluated."""
        return [trait.name for trait in self.stored_traits if trait.kind == "callable"]

    def get_agentic_trait_names(self) -> list[str]:
        """Return the names of the traits for agents, which are kept but not evaluated."""
        return [trait.name for trait in self.stored_traits if trait.kind == "agentic"]

    def __bool__(self) -> bool:
        return bool(self.traits)


def _with_type(trait: Any, type_: str | None = None) -> Any:
    """Give a plain dict the `type` that its keys imply."""
    if not isinstance(trait, dict) or "type" in trait:
        return trait
    if type_ is None:
        type_ = "regex" if "pattern" in trait else "metric" if "metrics" in trait else "llm"
    return {"type": type_, **trait}


def merge_rubrics(overall: Rubric | None, specific: Rubric | None) -> tuple[list[tuple[AnyTrait, str]], list[str]]:
    """Return the effective traits of a question, each with its provenance, and what was overridden.

    The effective rubric is the union of the global and the question's own. Where both use a name, the
    question's trait wins.

    Returns:
        Pairs of trait and `global` or `question_specific`, and the names that the question overrode.
    """
    own: Iterable[AnyTrait] = specific.traits if specific else ()
    own_names = {trait.name for trait in own}
    shared: Iterable[AnyTrait] = overall.traits if overall else ()
    overridden = [trait.name for trait in shared if trait.name in own_names]
    effective = [(trait, "global") for trait in shared if trait.name not in own_names]
    return effective + [(trait, "question_specific") for trait in own], overridden


LLMRubricTrait = RubricTrait
RegexRubricTrait = ManualRubricTrait
RegexTrait = ManualRubricTrait

"""`Template`: a template source made usable."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Literal

from pydantic import BaseModel

from karenina_core.errors import InputError
from karenina_core.schemas import BaseAnswer, FieldEvidence
from karenina_core.schemas.primitives import RegexMatch, TraceRegex
from karenina_core.templates.evaluation import (
    Evaluation,
    Outline,
    Rule,
    unverified,
    with_similarity,
)
from karenina_core.templates.limits import template_id
from karenina_core.templates.models import ReplyForm, build_answer, build_models
from karenina_core.templates.own_code import OwnRule, apply_own_rules, pattern_evidence, run_hooks
from karenina_core.templates.reader import Reading, read_source
from karenina_core.templates.sandbox import AnySandbox, available, shared_sandbox
from karenina_core.templates.spec import TemplateSpec

Style = Literal["declarative", "own_code", "mixed"]


@dataclass(frozen=True, eq=False)
class Template:
    """An answer template that was read and may be evaluated.

    Attributes:
        source: The text it was read from.
        spec: Its fields, rules and composition.
        warnings: What its author may want to know.
    """

    source: str
    spec: TemplateSpec
    warnings: tuple[str, ...]
    _reading: Reading = field(repr=False)
    _models: Mapping[str, type[BaseModel]] = field(repr=False)
    _form: ReplyForm = field(repr=False)
    _rules: tuple[Rule, ...] = field(repr=False)
    _own_rules: tuple[OwnRule, ...] = field(repr=False)

    @cached_property
    def template_id(self) -> str:
        """The identity of the text, whatever its indentation."""
        return template_id(self.source)

    @property
    def style(self) -> Style:
        """`declarative` (built-in rules only), `own_code` (methods only) or `mixed`."""
        if not self.spec.own_code:
            return "declarative"
        return "mixed" if self.spec.verified else "own_code"

    @property
    def badge(self) -> str:
        """One phrase for people: how the template is run here."""
        if not self.spec.own_code:
            return "built-in checks"
        return "own code, sandboxed" if available() else "not runnable"

    @cached_property
    def answer_class(self) -> type[BaseAnswer]:
        """The pydantic class. Its rules work unless the template has code of its own."""
        return build_answer(self.spec, self._models)

    @property
    def needs_judge(self) -> bool:
        """Whether there is anything for a judge to extract."""
        return bool(self._form.fields)

    @cached_property
    def is_quick(self) -> bool:
        """Whether evaluating takes microseconds: no code of its own, and no pattern that could use up its time."""
        patterns = any(isinstance(rule.primitive, RegexMatch | TraceRegex) for rule in self._rules)
        return not (self.spec.own_code or patterns)

    @property
    def semantic_fields(self) -> tuple[str, ...]:
        """The fields that the embedding check decides."""
        return self._outline.semantic

    @property
    def composition_strategy(self) -> str | None:
        """How results make the verdict, such as `at_least_n(2)`; None where the template's own code decides."""
        program = self._reading.program
        return None if program is not None and "verify" in program.hooks else self.spec.composition

    @property
    def extraction_hints(self) -> dict[str, str]:
        """The extra help for the judge by field."""
        return {item.name: item.extraction_hint for item in self._form.fields if item.extraction_hint}

    def line_of(self, name: str) -> int | None:
        """Return the line that defines a field, counted from 1."""
        return self._reading.lines.get(name)

    def judge_schema(self) -> dict[str, Any]:
        """Return the JSON schema of what the judge fills in. It never holds the truth."""
        return deepcopy(self._form.schema)

    @property
    def shared_schema(self) -> dict[str, Any]:
        """The same schema without a copy; it must not be changed."""
        return self._form.schema

    def validate_reply(self, data: Any) -> dict[str, Any]:
        """Return the judge's values by field, typed; None where it found nothing.

        Raises:
            InputError: The reply does not fit; its text can be sent back to the judge.
        """
        return self._form.read(data)

    def evaluate(self, values: Mapping[str, Any], raw_trace: str, *, sandbox: AnySandbox | None = None) -> Evaluation:
        """Apply the rules.

        Args:
            values: Values by field, as `validate_reply` returns them or as they were stored; a missing one is a null.
            raw_trace: The response, for trace fields.
            sandbox: Where own code runs; the one of this process if not given.

        Raises:
            TemplateError: The template's code failed, or a rule could not be applied.
        """
        values = self._typed(values)
        decided = {rule.spec.name: rule.decide(values.get(rule.spec.name), raw_trace) for rule in self._rules}
        if self._own_rules and self._reading.program is not None:
            place = sandbox or shared_sandbox()
            decided |= apply_own_rules(self._own_rules, self._reading.program, values, raw_trace, place)
        outline = self._outline
        pending = tuple([name for name in outline.semantic if values.get(name) is not None])
        correct = dict(outline.truths) or None
        kept = {name: values.get(name) for name in self._form.names}
        results = {name: item.result for name, item in decided.items()}
        verdict, granular = (None, None) if pending else outline.decide(results)
        evaluation = Evaluation(
            fields=self._in_order(decided, kept, correct),
            verdict=verdict,
            granular=granular,
            pending=pending,
            expected=correct,
            values=kept,
            raw_trace=raw_trace,
        )
        return evaluation if pending else self._finished(evaluation, sandbox)

    def verdict(self, values: Mapping[str, Any], raw_trace: str, *, sandbox: AnySandbox | None = None) -> bool | None:
        """Return the bare verdict of `evaluate`, many times faster for built-in rules.

        Args:
            values: Values by field, as for `evaluate`.
            raw_trace: The response, for trace fields.
            sandbox: As for `evaluate`.

        Returns:
            None where fields wait for their similarity.

        Raises:
            TemplateError: As `evaluate`.
        """
        outline = self._outline
        if self.spec.own_code or self._own_rules or outline.semantic:
            return self.evaluate(values, raw_trace, sandbox=sandbox).verdict
        values = self._typed(values)
        results = {rule.spec.name: rule.check(values.get(rule.spec.name), raw_trace) for rule in self._rules}
        return outline.strategy.passes(results)

    def complete(
        self,
        evaluation: Evaluation,
        decided: Mapping[str, tuple[bool, float]],
        *,
        sandbox: AnySandbox | None = None,
    ) -> Evaluation:
        """Fill in the pending `SemanticMatch` fields and decide.

        Args:
            evaluation: What `evaluate` returned.
            decided: Pass or fail, and the similarity, by pending field.
            sandbox: Where own code runs; the one of this process if not given.

        Raises:
            TemplateError: The template's code failed.
        """
        ready = set(evaluation.pending) & set(decided)
        fields = tuple(
            with_similarity(item, *decided[item.name]) if item.name in ready else item for item in evaluation.fields
        )
        pending = tuple(name for name in evaluation.pending if name not in decided)
        filled = replace(evaluation, fields=fields, pending=pending)
        if pending:
            return filled
        verdict, granular = self._outline.decide(filled.results)
        return self._finished(replace(filled, verdict=verdict, granular=granular), sandbox)

    def _typed(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Rebuild nested models, dates and truth values from their stored form; what does not fit stays as it is."""
        if not self._form.rebuilds:
            return values
        try:
            return self.validate_reply({name: values.get(name) for name in self._form.names})
        except InputError:
            return values

    @property
    def judged_names(self) -> tuple[str, ...]:
        """The fields the judge fills in."""
        return self._form.names

    @cached_property
    def _outline(self) -> Outline:
        return Outline.of(self.spec)

    def _in_order(
        self, decided: Mapping[str, FieldEvidence], values: Mapping[str, Any], expected: Any
    ) -> tuple[FieldEvidence, ...]:
        return tuple(
            decided.get(item.name) or unverified(item, values.get(item.name), expected) for item in self.spec.fields
        )

    def _finished(self, evaluation: Evaluation, sandbox: AnySandbox | None) -> Evaluation:
        """Return the evaluation with what the template's own code says of it, if it has any."""
        program = self._reading.program
        if program is None or not program.hooks:
            return evaluation
        names = self.spec.model_names
        if any(evaluation.values[item.name] is None and not item.shape(names).optional for item in self.spec.judged):
            # The author's code expects values; a null is never right, so it need not be asked.
            own_score = "verify_granular" in program.hooks
            return replace(evaluation, verdict=False, granular=None if own_score else evaluation.granular)
        outcome = run_hooks(program, evaluation, sandbox or shared_sandbox())
        decided = {item.name: item for item in evaluation.fields if item.rule is not None}
        wanted = tuple(pattern_evidence(*item, evaluation.raw_trace) for item in outcome.patterns.items())
        fields = (*self._in_order(decided, evaluation.values, outcome.expected), *wanted)
        verdict = outcome.verdict and all(item.result for item in wanted)
        return replace(evaluation, fields=fields, verdict=verdict, granular=outcome.granular, expected=outcome.expected)


@lru_cache(maxsize=4096)
def read_template(source: str) -> Template:
    """Read a template without running any of it.

    Raises:
        TemplateError: It is not acceptable: `line N: what (what to do)`, with a stable `code`.
    """
    reading = read_source(source)
    models = build_models(reading.spec)
    rules = [
        Rule(item, primitive, reading.lines.get(item.name))
        for item in reading.spec.fields
        if (primitive := item.primitive) is not None
    ]
    own_rules = tuple(
        OwnRule(item, reading.rules[item.verify_with["type"]])
        for item in reading.spec.fields
        if item.own_rule is not None and item.verify_with is not None
    )
    form = ReplyForm(reading.spec, models)
    return Template(source, reading.spec, reading.warnings, reading, models, form, tuple(rules), own_rules)

"""Deciding fields by custom primitives of the template: their checks run in the sandbox, all in one session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karenina_core.errors import TemplateError
from karenina_core.schemas import FieldEvidence
from karenina_core.schemas.primitives import Explanation
from karenina_core.templates.evaluation import evidence, nothing_found, plain
from karenina_core.templates.limits import refuse
from karenina_core.templates.own_code import clean, handed_in_to, short, tagged
from karenina_core.templates.rule_class import RuleClass
from karenina_core.templates.sandbox import Sandbox
from karenina_core.templates.spec import FieldSpec
from karenina_core.templates.transform import Program


@dataclass(frozen=True)
class OwnRule:
    """A field that a custom primitive of the template verifies.

    Attributes:
        spec: The field.
        rule: The class.
    """

    spec: FieldSpec
    rule: RuleClass

    def applies(self, value: Any) -> bool:
        """Whether there is anything to check: a null is never right and reaches no check."""
        return self.spec.is_trace or value is not None

    def job(self, value: Any) -> dict[str, Any]:
        """Return what the sandbox needs to check a value."""
        return {
            "rule": ["model", {name: tagged(item) for name, item in self._parameters.items()}, self.rule.name],
            "is_trace": self.spec.is_trace,
            "value": tagged(value),
            "expected": clean(self.spec.ground_truth),
        }

    def checked(self, said: Any) -> bool:
        """Return what the check said.

        Raises:
            TemplateError: It is neither True nor False.
        """
        if not isinstance(said, bool):
            raise refuse(
                "bad_result",
                f"{self.rule.method}() of {self.rule.name} returned {short(said)}",
                "it must return True or False",
                "return a comparison",
                line=self.rule.line,
            )
        return said

    def evidence(self, value: Any, passed: bool) -> FieldEvidence:
        """Return the evidence for a value the check passed or not; for the response in the case of trace rules."""
        shown = f"{self.rule.name}({', '.join(f'{name}={item!r}' for name, item in self._parameters.items())})"
        if self.spec.is_trace:
            told = Explanation(passed, (), f"{shown} {'holds' if passed else 'does not hold'} for the response")
            return evidence(self.spec, passed, passed == bool(self.spec.ground_truth), told, reads_trace=True)
        relation = "matches" if passed else "does not match"
        told = Explanation(passed, (), f"{value!r} {relation} {self.spec.ground_truth!r} by {shown}")
        return evidence(self.spec, plain(value), passed, told)

    @property
    def _parameters(self) -> dict[str, Any]:
        return {name: item for name, item in (self.spec.verify_with or {}).items() if name != "type"}


def decide_own(
    rules: Sequence[OwnRule], program: Program, values: Mapping[str, Any], raw_trace: str, sandbox: Sandbox
) -> dict[str, FieldEvidence]:
    """Return the evidence of the fields that custom primitives verify, by name.

    Raises:
        TemplateError: A check failed, or returned anything but True or False.
    """
    asked = [rule for rule in rules if rule.applies(values.get(rule.spec.name))]
    decided = {rule.spec.name: nothing_found(rule.spec) for rule in rules}
    said = _run(asked, program, values, raw_trace, sandbox) if asked else []
    for rule, answer in zip(asked, said, strict=True):
        decided[rule.spec.name] = rule.evidence(values.get(rule.spec.name), rule.checked(answer))
    return decided


def _run(
    asked: Sequence[OwnRule], program: Program, values: Mapping[str, Any], raw_trace: str, sandbox: Sandbox
) -> list[Any]:
    inputs = {
        "_karenina_jobs": [rule.job(values.get(rule.spec.name)) for rule in asked],
        "_karenina_trace": clean(raw_trace),
        **handed_in_to(program),
    }
    lines = {rule.rule.line for rule in asked}
    # Where the interpreter gives up it names no line; with one rule, its method is where the author has to look.
    line = lines.pop() if len(lines) == 1 else None
    try:
        said = sandbox.run(program.code, inputs, program.lines, program.prelude)
    except TemplateError as error:
        raise refuse(error.code, error.what, error.why, error.next, line=error.line or line) from None
    if not isinstance(said, list) or len(said) != len(asked):
        raise refuse("bad_result", "the checks did not return one result for each field", line=line)
    return said

"""Help in writing templates: what is wrong with one, why an answer passes, and first drafts without a model."""

from karenina_core.authoring.acceptance import Acceptance, acceptances
from karenina_core.authoring.draft import RuleDraft, draft_by_rule
from karenina_core.authoring.explain import explain, explain_field, explain_verdict
from karenina_core.authoring.form import FormView, form_of
from karenina_core.authoring.form_edits import form_data
from karenina_core.authoring.form_source import Written, write_form
from karenina_core.authoring.linter.benchmarks import BenchmarkFindings, QuestionFindings, lint_benchmark
from karenina_core.authoring.linter.finding import (
    Finding,
    FormData,
    FormFix,
    Severity,
    SourceFix,
    SpecFix,
    TraitFix,
)
from karenina_core.authoring.linter.lint import lint
from karenina_core.authoring.linter.rubrics import lint_rubric
from karenina_core.authoring.linter.typed import lint_form
from karenina_core.authoring.near_misses import Case, near_misses
from karenina_core.authoring.repair import Repaired, repair_all, repair_whole_form, repaired, repaired_form
from karenina_core.authoring.review import REVIEW_PROPERTY, Review, add_draft, review
from karenina_core.authoring.source_edits import edit_source, replace_field
from karenina_core.authoring.steps import Chain, FieldSteps, Link, VerdictSteps
from karenina_core.authoring.suggest import suggest_rule, suggest_type
from karenina_core.authoring.what_if import Curve, Point, StoredAnswer, what_if

__all__ = [
    "REVIEW_PROPERTY",
    "Acceptance",
    "BenchmarkFindings",
    "Case",
    "Chain",
    "Curve",
    "FieldSteps",
    "Finding",
    "FormData",
    "FormFix",
    "FormView",
    "Link",
    "Point",
    "QuestionFindings",
    "Repaired",
    "Review",
    "RuleDraft",
    "Severity",
    "SourceFix",
    "SpecFix",
    "StoredAnswer",
    "TraitFix",
    "VerdictSteps",
    "Written",
    "acceptances",
    "add_draft",
    "draft_by_rule",
    "edit_source",
    "explain",
    "explain_field",
    "explain_verdict",
    "form_data",
    "form_of",
    "lint",
    "lint_benchmark",
    "lint_form",
    "lint_rubric",
    "near_misses",
    "repair_all",
    "repair_whole_form",
    "repaired",
    "repaired_form",
    "replace_field",
    "review",
    "suggest_rule",
    "suggest_type",
    "what_if",
    "write_form",
]

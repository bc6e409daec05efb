"""What the linter says beside the editor, and its fixes by one click."""

from __future__ import annotations

from karenina_core.demo import demo_config
from karenina_core.templates import read_template
from pages.components import services
from tests.app.looking import texts
from tests.app.samples import TEMPLATE
from tests.app.template_page import template_page
from tests.app.test_template_editor import OWN_METHODS, names, press, source_of, typed

LEAKING = TEMPLATE.replace('"The protein named as the target"', '"The protein, which is BCL2"')
NUMBERS = """class Answer(BaseAnswer):
    # Counted by hand.
    patients: int = VerifiedField(
        description="The number of patients enrolled", ground_truth="342", verify_with=NumericExact()
    )
    gene: str = VerifiedField(
        description="The gene symbol", ground_truth="BCL2", verify_with=ContainsAny(substrings=["BCL2"])
    )
"""


def test_a_sound_template_has_no_remark() -> None:
    sound = TEMPLATE.replace('["lowercase"]', '["lowercase", "strip"]')
    assert "No problem was found in this template." in texts(template_page(sound))


def test_a_finding_says_what_why_and_what_to_do() -> None:
    said = texts(template_page(LEAKING))
    assert "1 error" in said and "target" in said
    assert "The description holds the expected value" in said


def test_findings_follow_what_is_typed() -> None:
    app = typed(template_page(TEMPLATE), "Type", "int")
    assert "is not a whole number" in texts(app)
    app = typed(app, "Ground truth", "23")
    assert "is not a whole number" not in texts(app)


def test_a_fix_changes_what_it_is_about_and_nothing_else() -> None:
    app = press(template_page(NUMBERS), "Make it 342")
    assert source_of(app) == NUMBERS.replace('ground_truth="342"', "ground_truth=342")


def test_all_fixes_at_once_can_be_undone() -> None:
    app = template_page(NUMBERS)
    [button] = [button for button in app.button if button.label.startswith("Fix all")]
    button.click().run()
    assert read_template(source_of(app)).spec.fields[0].ground_truth == 342
    assert "# Counted by hand." in source_of(app) and "Fixed" in texts(app)
    app = press(app, "Undo")
    assert source_of(app) == NUMBERS


def test_a_fix_completes_what_was_typed() -> None:
    app = typed(template_page(TEMPLATE), "Name", "the target")
    app = press(app, "Name it the\\_target")
    assert names(app) == ["the_target"] and "the_target: str" in source_of(app)


def test_the_embedding_check_of_the_newest_run_counts() -> None:
    app = typed(template_page(TEMPLATE), "Rule", "SemanticMatch")
    assert "needs the embedding check" not in texts(app)
    store = services.store()
    row = store.benchmarks.all()[0]
    off = demo_config().model_copy(update={"embedding_check_enabled": False})
    services.start_run(row.id, store.benchmarks.load(row.id), off, "Without")
    assert "needs the embedding check, which is off" in texts(app.run())


def test_own_code_is_looked_at_too() -> None:
    app = template_page(OWN_METHODS.replace('"BCL2"', '"BCL2" or True'))
    assert "own code, sandboxed" in texts(app)

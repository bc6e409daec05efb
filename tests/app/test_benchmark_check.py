"""The Check section of a benchmark: every finding, and fixes that need one click."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from karenina_core.authoring import REVIEW_PROPERTY, draft_by_rule, lint_benchmark
from karenina_core.benchmark import Benchmark, load_checkpoint
from karenina_core.runs import Store
from karenina_core.schemas import Rubric, RubricTrait
from karenina_core.templates import write_template
from tests.app.conftest import Open
from tests.app.looking import select_row, table, texts
from tests.app.samples import small_benchmark
from tests.authoring.linter.test_repairs import CODE, UNSOUND, unsound

PAGE = "pages/benchmarks.py"


def sound() -> Benchmark:
    benchmark = Benchmark.create("Sound")
    draft = draft_by_rule("Is it given by mouth?", "Yes")
    assert draft.spec is not None
    benchmark.add_question("Is it given by mouth?", "Yes", write_template(draft.spec))
    return benchmark


def checking(open_page: Open, store: Store, benchmark: Benchmark) -> tuple[AppTest, str]:
    benchmark_id = store.benchmarks.save(benchmark)
    return open_page(PAGE, benchmark=benchmark_id, do="check"), benchmark_id


def test_the_panel_leads_to_the_check(open_page: Open, store: Store) -> None:
    benchmark_id = store.benchmarks.save(small_benchmark())
    app = open_page(PAGE, benchmark=benchmark_id)
    app.button(key="open_check").click().run()
    assert app.query_params["do"] == "check"
    app.button(key="task_back").click().run()
    assert "do" not in app.query_params
    assert len(table(app, "Benchmarks")) == 1


def test_a_sound_benchmark_has_nothing_to_mend(open_page: Open, store: Store) -> None:
    app, _ = checking(open_page, store, sound())
    assert "There is nothing to fix in the questions, templates and rubrics." in texts(app)


def test_a_benchmark_without_questions_says_so(open_page: Open, store: Store) -> None:
    app, _ = checking(open_page, store, Benchmark.create("Empty"))
    assert list(table(app, "Findings")["Question"]) == ["The benchmark as a whole"]
    assert not [button for button in app.button if button.key == "check_open"]


def test_questions_are_named_by_their_text(open_page: Open, store: Store) -> None:
    app, _ = checking(open_page, store, small_benchmark())
    lacking = table(app, "Findings").set_index("What")
    assert lacking.loc["It has no template.", "Question"] == "How many chromosome pairs?"
    assert store.benchmarks.all()[0].id not in texts(app)


def test_a_template_that_cannot_be_read_is_listed_once(open_page: Open, store: Store) -> None:
    broken = small_benchmark().to_json().replace("VerifiedField(", "VerifiedField((")
    app, _ = checking(open_page, store, load_checkpoint(broken.encode())[0])
    assert list(table(app, "Findings")["Severity"]).count("✗ error") == 1


def test_checked_questions_are_marked_finished_in_one_go_and_back(open_page: Open, store: Store) -> None:
    benchmark = sound()
    benchmark.add_question("How does it work?", "It binds BCL2.", finished=False)
    for name in benchmark.get_question_ids():
        benchmark.mark_unfinished(name)
    app, benchmark_id = checking(open_page, store, benchmark)
    assert "2 questions of 2 are not finished" in texts(app)
    app.button(key="check_finish").click().run()
    assert "Marked 1 question finished." in texts(app)
    assert store.benchmarks.row(benchmark_id).finished_count == 1
    app.button(key="undo").click().run()
    assert store.benchmarks.row(benchmark_id).finished_count == 0


def test_what_needs_a_review_is_not_marked_finished_with_the_others(open_page: Open, store: Store) -> None:
    benchmark = sound()
    (name,) = benchmark.get_question_ids()
    benchmark.mark_unfinished(name)
    benchmark.set_question_custom_property(name, REVIEW_PROPERTY, "The comma may separate thousands.")
    app, _ = checking(open_page, store, benchmark)
    assert not [button for button in app.button if button.key == "check_finish"]


def test_findings_are_listed_the_gravest_first(open_page: Open, store: Store) -> None:
    app, _ = checking(open_page, store, unsound())
    shown = list(table(app, "Findings")["Severity"])
    assert shown == sorted(shown, key=["✗ error", "! warning", "· hint"].index)
    assert len(shown) == sum(len(item.template) for item in lint_benchmark(unsound()).questions.values())


def test_one_click_mends_one_finding_and_another_takes_it_back(open_page: Open, store: Store) -> None:
    app, benchmark_id = checking(open_page, store, unsound())
    what = list(table(app, "Findings")["Fix"])
    app = select_row(app, "Findings", next(at for at, label in enumerate(what) if label))
    app.button(key="check_fix").click().run()
    assert not app.exception
    assert "Fixed 1 finding." in texts(app)
    assert store.benchmarks.load(benchmark_id).get_template("one") != UNSOUND
    app.button(key="undo").click().run()
    assert store.benchmarks.load(benchmark_id).get_template("one") == UNSOUND.replace("karenina_core", "karenina")


def test_all_findings_of_a_kind_are_mended_at_once(open_page: Open, store: Store) -> None:
    app, benchmark_id = checking(open_page, store, unsound())
    kind = next(box for box in app.selectbox if box.label == "Kind of finding")
    app = kind.set_value(CODE).run()
    assert len(table(app, "Findings")) == 4
    app.button(key="check_fix_all").click().run()
    assert "Fixed 4 findings." in texts(app)
    found = lint_benchmark(store.benchmarks.load(benchmark_id)).questions.values()
    assert CODE not in {finding.code for item in found for finding in item.template}


def test_a_fix_is_not_taken_back_over_a_later_edit(open_page: Open, store: Store) -> None:
    app, benchmark_id = checking(open_page, store, unsound())
    app = next(box for box in app.selectbox if box.label == "Kind of finding").set_value(CODE).run()
    app.button(key="check_fix_all").click().run()
    later = store.benchmarks.load(benchmark_id)
    later.mark_unfinished("one")
    store.benchmarks.save(later, benchmark_id)
    app.button(key="undo").click().run()
    assert "changed elsewhere" in texts(app)
    assert not store.benchmarks.load(benchmark_id).get_question("one").finished


def test_a_finding_links_to_its_question_or_rubric(open_page: Open, store: Store) -> None:
    app, _ = checking(open_page, store, unsound())
    app.button(key="check_open").click().run()
    assert not app.exception and app.query_params["q"] == "one"
    traits = Benchmark.create("Traits")
    traits.set_global_rubric(Rubric(traits=[RubricTrait(name="clarity", kind="binary")]))
    app, _ = checking(open_page, store, traits)
    app.button(key="check_open").click().run()
    assert not app.exception and app.query_params["scope"] == "global"

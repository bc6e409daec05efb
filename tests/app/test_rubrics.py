"""The Rubrics page: traits of every kind, for all questions or for one."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.benchmark import Benchmark
from karenina_core.demo import demo_benchmark
from karenina_core.runs import Store
from karenina_core.schemas import ManualRubricTrait, MetricRubricTrait, Rubric, RubricTrait, StoredTrait
from tests.app.conftest import Open
from tests.app.looking import labelled, select_row, table, texts

CALLABLE = StoredTrait(
    name="Old check",
    kind="callable",
    rating={
        "@type": "Rating",
        "name": "Old check",
        "bestRating": 1,
        "worstRating": 0,
        "additionalType": "karenina:GlobalCallableTrait",
        "additionalProperty": [],
    },
)


@pytest.fixture
def stored(store: Store, small: Benchmark) -> str:
    """Return the id of a stored benchmark with two traits for all questions."""
    small.set_global_rubric(
        Rubric(
            name="Quality",
            traits=[
                RubricTrait(name="Clarity", description="How clear?"),
                ManualRubricTrait(name="BH3", pattern=r"\bBH3\b", case_sensitive=False),
            ],
        )
    )
    return store.benchmarks.save(small)


def add(app: AppTest, kind: str, **values: Any) -> AppTest:
    """Add a trait through the form; values by the label of their widget."""
    app.menu_button(key="add_trait").set_value(kind).run()
    for label, value in values.items():
        fill(app, label.replace("_", " "), value)
    return save(app)


def fill(app: AppTest, label: str, value: Any) -> None:
    widgets = [*app.text_input, *app.text_area, *app.number_input, *app.segmented_control, *app.pills, *app.toggle]
    labelled(widgets, label).set_value(value)
    app.run()


def save(app: AppTest) -> AppTest:
    return app.button(key="save_trait").click().run()


def global_traits(store: Store, benchmark_id: str) -> dict[str, Any]:
    rubric = store.benchmarks.load(benchmark_id).get_global_rubric()
    return {trait.name: trait for trait in rubric.traits} if rubric else {}


def test_traits_are_listed_with_what_they_yield(open_page: Open, stored: str) -> None:
    app = open_page("pages/rubrics.py")
    assert list(table(app, "Rubric traits")["Yields"]) == ["score 1–5", "pattern"]


def test_a_benchmark_without_traits_says_how_to_begin(open_page: Open, store: Store, small: Benchmark) -> None:
    store.benchmarks.save(small)
    assert "No trait applies to all questions yet. Add one with “Add trait”" in texts(open_page("pages/rubrics.py"))


def test_a_trait_of_classes_is_added(open_page: Open, store: Store, stored: str) -> None:
    app = open_page("pages/rubrics.py")
    app.menu_button(key="add_trait").set_value("llm").run()
    fill(app, "Name", "Tone")
    fill(app, "The judge answers with", "literal")
    fill(app, "Classes, one per line", "formal: as in a journal\ncasual: as in a chat")
    save(app)
    assert global_traits(store, stored)["Tone"].classes == {"formal": "as in a journal", "casual": "as in a chat"}


@pytest.mark.parametrize(
    ("kind", "values", "problem"),
    [
        ("llm", {"Name": "Odd", "Lowest_score": 9}, "min_score 9 must be below max_score 5"),
        ("llm", {"Name": "BH3"}, "The rubric of all questions has a trait 'BH3' already. Choose another name"),
        ("regex", {"Name": "Broken", "Regular_expression": "("}, "not valid"),
    ],
)
def test_what_makes_no_trait_is_refused_in_words(
    open_page: Open, store: Store, stored: str, kind: str, values: dict[str, Any], problem: str
) -> None:
    assert problem in texts(add(open_page("pages/rubrics.py"), kind, **values))
    assert list(global_traits(store, stored)) == ["Clarity", "BH3"]
    assert global_traits(store, stored)["BH3"].type == "regex"


def test_a_trait_is_edited_in_place(open_page: Open, store: Store, stored: str) -> None:
    app = open_page("pages/rubrics.py")
    fill(app, "Name", "Plainness")
    assert "Unsaved edits" in texts(app)
    assert labelled(open_page("pages/rubrics.py").text_input, "Name").value == "Plainness", "also after a reload"
    save(app)
    assert list(global_traits(store, stored)) == ["Plainness", "BH3"]
    assert store.benchmarks.load(stored).get_global_rubric().name == "Quality"


def test_the_tester_says_whether_a_text_passes(open_page: Open, stored: str) -> None:
    app = select_row(open_page("pages/rubrics.py"), "Rubric traits", 1)
    fill(app, "Try it on a text", "It mimics bh3 proteins; bh3 is a domain.")
    assert "**Passes** · the pattern is found 2 times" in texts(app)
    assert ":orange-background[bh3]" in texts(app)
    fill(app, "Fail when it is found", True)
    assert "**Fails** · the pattern is found 2 times" in texts(app)


def test_a_new_trait_is_not_faulted_before_anything_is_typed(open_page: Open, stored: str) -> None:
    app = open_page("pages/rubrics.py")
    app.menu_button(key="add_trait").set_value("regex").run()
    assert "-badge[:material/error" not in texts(app)
    fill(app, "Name", "Mentions")
    assert "-badge[:material/error" in texts(app)


def test_a_metric_trait_shows_the_mode_that_follows_from_its_lists(open_page: Open, store: Store, stored: str) -> None:
    app = open_page("pages/rubrics.py")
    app.menu_button(key="add_trait").set_value("metric").run()
    fill(app, "Name", "Lungs")
    fill(app, "Positive class, one per line", "asthma\n\nbronchitis")
    assert "**true positives only**" in texts(app)
    fill(app, "Metrics", ["precision", "accuracy"])
    assert "Not available in this mode: accuracy" in texts(app)
    assert "accuracy cannot be computed in tp_only mode" in texts(save(app))
    fill(app, "Negative class, one per line", "emphysema")
    assert "**full matrix**" in texts(app)
    save(app)
    trait = global_traits(store, stored)["Lungs"]
    assert isinstance(trait, MetricRubricTrait)
    assert (trait.evaluation_mode, trait.tp_instructions) == ("full_matrix", ["asthma", "bronchitis"])


def test_deleting_a_trait_can_be_undone_in_place(open_page: Open, store: Store, stored: str) -> None:
    app = open_page("pages/rubrics.py")
    app.button(key="delete_trait").click().run()
    assert list(global_traits(store, stored)) == ["BH3"]
    app.button(key="undo").click().run()
    assert list(global_traits(store, stored)) == ["Clarity", "BH3"]


def test_a_question_has_traits_of_its_own_and_inherits_the_others(open_page: Open, store: Store, stored: str) -> None:
    app = open_page("pages/rubrics.py", scope="question")
    assert "Also applies, from all questions: Clarity, BH3" in texts(app)
    add(app, "llm", Name="Tone")
    question_id = app.query_params["q"]
    own = store.benchmarks.load(stored).get_question_rubric(question_id)
    assert [trait.name for trait in own.traits] == ["Tone"]
    add(app, "llm", Name="Clarity")
    assert "A trait of all questions is named 'Clarity'" in texts(app)
    app.button(key="discard_trait").click().run()
    app.button(key="delete_trait").click().run()
    assert store.benchmarks.load(stored).get_question_rubric(question_id) is None


def test_a_shared_trait_cannot_take_the_name_of_a_questions_own(
    open_page: Open, store: Store, small: Benchmark
) -> None:
    small.set_question_rubric(small.get_question_ids()[0], Rubric(traits=[RubricTrait(name="Tone")]))
    benchmark_id = store.benchmarks.save(small)
    app = add(open_page("pages/rubrics.py"), "llm", Name="Tone")
    assert "is named 'Tone'. Of two traits with one name" in texts(app)
    assert global_traits(store, benchmark_id) == {}


def test_a_file_may_replace_a_shared_trait_and_the_page_says_so(
    open_page: Open, store: Store, small: Benchmark
) -> None:
    small.set_global_rubric(Rubric(traits=[RubricTrait(name="Clarity")]))
    question_id = small.get_question_ids()[0]
    small.set_question_rubric(question_id, Rubric(traits=[RubricTrait(name="Clarity", description="Own")]))
    benchmark_id = store.benchmarks.save(small)
    app = open_page("pages/rubrics.py", scope="question", q=question_id)
    assert "Used here instead of the trait of all questions: Clarity" in texts(app)
    assert 'The global rubric has a trait "Clarity" too.' in texts(app)
    fill(app, "What the judge assesses", "Own words")
    save(app)
    own = store.benchmarks.load(benchmark_id).get_question_rubric(question_id)
    assert own is not None
    assert own.traits[0].description == "Own words", "an edit that keeps the name is saved"


def test_traits_move_up_and_down(open_page: Open, store: Store, stored: str) -> None:
    app = open_page("pages/rubrics.py")
    assert app.button(key="trait_up").disabled
    app.button(key="trait_down").click().run()
    assert list(global_traits(store, stored)) == ["BH3", "Clarity"]
    assert app.button(key="trait_down").disabled, "the trait that was moved is still the chosen one"
    app.button(key="trait_up").click().run()
    assert list(global_traits(store, stored)) == ["Clarity", "BH3"]


def test_a_duplicate_comes_after_its_original_under_a_free_name(open_page: Open, store: Store, stored: str) -> None:
    open_page("pages/rubrics.py").button(key="duplicate_trait").click().run()
    assert list(global_traits(store, stored)) == ["Clarity", "Clarity 2", "BH3"]
    assert global_traits(store, stored)["Clarity 2"].description == "How clear?"


def test_what_is_to_be_mended_is_said_and_mended(open_page: Open, store: Store, stored: str) -> None:
    app = open_page("pages/rubrics.py")
    fill(app, "What the judge assesses", "")
    assert "error] The trait has no description." in texts(app)
    app.button(key="trait_fix_0").click().run()
    assert "The trait has no description" not in texts(app)
    save(app)
    assert "Rate how far the response shows clarity" in global_traits(store, stored)["Clarity"].description


def test_the_list_counts_what_is_to_be_mended(open_page: Open, store: Store, small: Benchmark) -> None:
    small.set_global_rubric(
        Rubric(traits=[RubricTrait(name="Bare"), RubricTrait(name="Good", description="How good?")])
    )
    store.benchmarks.save(small)
    assert list(table(open_page("pages/rubrics.py"), "Rubric traits")["Problems"]) == ["1", ""]


def test_a_new_trait_that_was_begun_is_found_again_after_a_reload(open_page: Open, stored: str) -> None:
    app = open_page("pages/rubrics.py")
    app.menu_button(key="add_trait").set_value("regex").run()
    fill(app, "Name", "Half")
    again = open_page("pages/rubrics.py")
    assert list(table(again, "Rubric traits")["Trait"])[-1] == "new, not added yet ✎"
    again = select_row(again, "Rubric traits", 2)
    assert labelled(again.text_input, "Name").value == "Half"


def test_a_trait_that_is_only_kept_says_why(open_page: Open, store: Store, small: Benchmark) -> None:
    small.set_global_rubric(Rubric(traits=[CALLABLE]))
    store.benchmarks.save(small)
    app = open_page("pages/rubrics.py")
    assert "callable: not evaluated" in list(table(app, "Rubric traits")["Yields"])
    assert "Stored, not evaluated" in texts(app)
    assert "its code comes from a file and is never loaded" in texts(app)


def test_a_cancelled_new_trait_leaves_an_empty_form_behind(open_page: Open, store: Store, stored: str) -> None:
    app = open_page("pages/rubrics.py")
    app.menu_button(key="add_trait").set_value("regex").run()
    fill(app, "Name", "Half")
    app.button(key="discard_trait").click().run()
    app.menu_button(key="add_trait").set_value("regex").run()
    assert labelled(app.text_input, "Name").value == ""
    assert list(global_traits(store, stored)) == ["Clarity", "BH3"]


def test_every_trait_of_the_demo_opens(open_page: Open, store: Store) -> None:
    store.benchmarks.save(demo_benchmark())
    app = open_page("pages/rubrics.py")
    for row in range(len(table(app, "Rubric traits"))):
        app = select_row(app, "Rubric traits", row)
        assert not app.exception
        assert not app.error

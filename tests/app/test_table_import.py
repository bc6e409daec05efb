"""Tables on the Benchmarks page: from the file over the columns and the doctor into a benchmark."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from karenina_core.analysis import to_json
from karenina_core.benchmark import Benchmark, Choices, apply, suggest_mapping
from karenina_core.runs import Store
from pages.components.benchmarks import list as benchmark_list
from pages.components.table_import import answers as table_import_answers
from pages.components.table_import import doctor as table_import_doctor
from tests.app.conftest import Open
from tests.app.looking import labelled, table, texts
from tests.benchmark.tables.files import HEADER, csv_file, csv_table, parquet_file, workbook, zipped

PAGE = "pages/benchmarks.py"
BAD = csv_file("What?,BCL2", "Why? ,x", ",lost", "How?,", "What?,BCL2")


def uploaded(app: AppTest, data: bytes, name: str = "lab.csv") -> AppTest:
    return app.file_uploader[0].upload(name, data).run()


def imported(app: AppTest) -> AppTest:
    return app.button(key="table_import").click().run()


def only(store: Store) -> Benchmark:
    [row] = store.benchmarks.all()
    return store.benchmarks.load(row.id)


@pytest.mark.parametrize(
    ("name", "data", "title"),
    [
        ("a.csv", csv_file("What?,BCL2"), "a table of text (CSV, TSV)"),
        ("a.xlsx", workbook([HEADER, ("What?", "BCL2")]), "an Excel workbook"),
        ("a.tsv", b"Question\tAnswer\nWhat?\tBCL2", "a table of text (CSV, TSV)"),
        ("a.json", b'[{"question": "What?", "answer": "BCL2"}]', "a list of objects (JSON)"),
        ("a.jsonl", b'{"question": "What?", "answer": "BCL2"}', "a list of objects, one on each line (JSON Lines)"),
        ("a.parquet", parquet_file(question=["What?"], answer=["BCL2"]), "a Parquet table"),
        ("a.zip", zipped({"b.csv": csv_file("What?,BCL2")}), "a table of text (CSV, TSV)"),
    ],
)
def test_the_format_is_told_and_the_rows_are_shown(open_page: Open, name: str, data: bytes, title: str) -> None:
    app = uploaded(open_page(PAGE), data, name)
    assert not app.exception
    assert f"Found: **{title}**" in texts(app)
    assert list(table(app, "Preview")["Question"]) == ["What?"]


def test_bad_rows_are_reported_and_the_good_ones_imported(open_page: Open, store: Store) -> None:
    app = uploaded(open_page(PAGE), BAD)
    assert "**2 of 5 rows can be imported** · 3 left out · 1 cell fixed" in texts(app)
    found = table(app, "Findings")
    assert list(found["Row"]) == [3, 4, 5, 6]
    assert list(found["Do"]) == ["Fix", *["Leave the row out"] * 3]
    assert store.benchmarks.all() == []
    app = imported(app)
    assert [question.question for question in only(store)] == ["What?", "Why?"]
    assert "Imported 2 of 5 rows into **lab**. 3 rows left out." in texts(app)
    assert app.query_params["benchmark"] == store.benchmarks.all()[0].id


def test_a_sound_table_has_nothing_to_report(open_page: Open) -> None:
    app = uploaded(open_page(PAGE), csv_file("What?,BCL2"))
    assert "Nothing is wrong with any row." in texts(app)
    assert app.button(key="table_import").label == "Import all 1"


def test_columns_can_be_chosen_by_hand(open_page: Open, store: Store) -> None:
    app = uploaded(open_page(PAGE), csv_file("a,b", header="links,rechts"))
    assert "Choose the column with the questions." in texts(app)
    labelled(app.selectbox, "Question").set_value("links").run()
    assert "Choose the column with the reference answers." in texts(app)
    assert "rows can be imported" not in texts(app) and "table_import" not in [button.key for button in app.button]
    labelled(app.selectbox, "Reference answer").set_value("rechts").run()
    imported(app)
    assert [question.raw_answer for question in only(store)] == ["b"]


def test_one_column_cannot_be_two_things(open_page: Open) -> None:
    app = uploaded(open_page(PAGE), csv_file("a?,b"))
    labelled(app.selectbox, "Reference answer").set_value("Question").run()
    assert "is used for two things" in texts(app)
    assert "table_import" not in [button.key for button in app.button]


def test_keywords_are_split_as_chosen(open_page: Open, store: Store) -> None:
    app = uploaded(open_page(PAGE), csv_file("a?,b,x/y", header="Question,Answer,Keywords"))
    labelled(app.selectbox, "Between keywords in “Keywords”").set_value("/").run()
    imported(app)
    assert [question.keywords for question in only(store)] == [["x", "y"]]


def test_a_sheet_can_be_chosen(open_page: Open) -> None:
    app = uploaded(open_page(PAGE), workbook([HEADER, ("a?", "b")], [HEADER, ("c?", "d")]), "two.xlsx")
    labelled(app.selectbox, "Sheet").set_value("Sheet 2").run()
    assert list(table(app, "Preview")["Question"]) == ["c?"]


def test_an_encoding_can_be_chosen(open_page: Open) -> None:
    app = uploaded(open_page(PAGE), "Question,Answer\nЧто?,Да".encode("cp1251"))
    labelled(app.selectbox, "Encoding").set_value("cp1251").run()
    assert list(table(app, "Preview")["Question"]) == ["Что?"]


def test_a_file_of_an_archive_can_be_chosen(open_page: Open) -> None:
    data = zipped({"a.csv": csv_file("a?,b"), "b.csv": csv_file("c?,d")})
    app = uploaded(open_page(PAGE), data, "two.zip")
    assert "holds 2 files" in texts(app)
    app.selectbox(key="upload_member").set_value("b.csv").run()
    app = app.button(key="upload_open_member").click().run()
    assert list(table(app, "Preview")["Question"]) == ["c?"]


def test_a_column_nothing_was_said_of_can_be_kept(open_page: Open, store: Store) -> None:
    app = uploaded(open_page(PAGE), csv_file("a?,b,red", header="Question,Answer,Colour"))
    assert "not imported: **Colour**" in texts(app)
    labelled(app.button, "Store as custom metadata").click()
    app = app.run()
    assert "Stored as custom metadata: Colour" in texts(app)
    imported(app)
    assert only(store).get_all_questions()[0].custom_metadata == {"Colour": "red"}


def test_what_is_done_can_be_changed_for_all_that_is_shown(open_page: Open, store: Store) -> None:
    app = uploaded(open_page(PAGE), csv_file("a? ,b", "c? ,d"))
    labelled(app.button, "Leave as it is (2)").click()
    app = app.run()
    assert list(table(app, "Findings")["Do"]) == ["Leave as it is"] * 2
    imported(app)
    assert [question.question for question in only(store)] == ["a? ", "c? "]


def test_rows_are_added_to_a_benchmark_and_taken_back(open_page: Open, store: Store) -> None:
    here = Benchmark.create("Here")
    here.add_question("What?", "BCL2")
    benchmark_id = store.benchmarks.save(here)
    app = uploaded(open_page(PAGE), csv_file("What?,BCL2", "Why?,x"))
    labelled(app.selectbox, "Import into").set_value(benchmark_id).run()
    assert "The benchmark has this question already." in list(table(app, "Findings")["What"])
    app = imported(app)
    assert [question.question for question in only(store)] == ["What?", "Why?"]
    app.button(key="undo").click().run()
    assert [question.question for question in only(store)] == ["What?"]


def test_a_new_benchmark_needs_a_name(open_page: Open) -> None:
    app = uploaded(open_page(PAGE), csv_file("a?,b"))
    labelled(app.text_input, "Name of the new benchmark").set_value(" ").run()
    assert app.button(key="table_import").disabled


def test_the_work_survives_a_change_of_page(open_page: Open) -> None:
    app = uploaded(open_page(PAGE), csv_file("a,b", header="links,rechts"))
    labelled(app.selectbox, "Question").set_value("rechts").run()
    app.switch_page("pages/questions.py").run()
    app.switch_page(PAGE).run()
    assert labelled(app.selectbox, "Question").value == "rechts"


def test_a_discarded_table_leaves_nothing_behind(open_page: Open, store: Store) -> None:
    app = uploaded(open_page(PAGE), BAD)
    app = app.button(key="upload_discard").click().run()
    assert "lab.csv" not in texts(app)
    assert store.benchmarks.all() == []


def test_answers_of_models_are_kept_and_can_be_run(open_page: Open, store: Store) -> None:
    app = uploaded(open_page(PAGE), csv_file("a?,b,x,y", header="Question,Answer,Answer: A,Answer: B"))
    labelled(app.checkbox, "Mark every question finished").set_value(True).run()
    app = imported(app)
    [row] = store.benchmarks.all()
    assert table_import_answers.of_benchmark(row.id) == {
        name: {store.benchmarks.load(row.id).get_question_ids()[0]: text} for name, text in (("A", "x"), ("B", "y"))
    }
    assert "Prepared answers" in texts(app)
    app = app.button(key="run_prepared").click().run()
    assert not app.exception
    models = app.session_state["_models_answering"]
    assert [(model.id, list((model.manual_traces or {}).values())) for model in models] == [("A", ["x"]), ("B", ["y"])]


def test_prepared_answers_can_be_forgotten(open_page: Open, store: Store) -> None:
    benchmark_id = store.benchmarks.save(Benchmark.create("Here"))
    table_import_answers.add(benchmark_id, {"A": {"q": "x\0"}})
    table_import_answers.add(benchmark_id, {"A": {"r": "y"}})
    assert table_import_answers.of_benchmark(benchmark_id) == {"A": {"q": "x�", "r": "y"}}
    open_page(PAGE).button(key="forget_prepared").click().run()
    assert table_import_answers.of_benchmark(benchmark_id) == {}


def test_a_bad_row_of_json_lines_is_told_with_its_number(open_page: Open) -> None:
    app = uploaded(open_page(PAGE), b'{"question": "a"}\n{"question": ', "a.jsonl")
    assert "Row 2: The file is not valid JSON." in texts(app)


def edited(changes: dict[int, dict[str, Any]]) -> Choices:
    found = apply(made := csv_table("a? ,b", "c?,"), suggest_mapping(made))
    return table_import_doctor.with_edits(changes, found.findings, Choices())


def test_a_choice_made_in_the_table_is_taken() -> None:
    assert edited({0: {"Do": "Leave as it is"}}).of_findings == {(2, "Question", "blanks"): "keep"}


def test_a_choice_that_is_not_offered_is_not_taken() -> None:
    assert edited({1: {"Do": "Leave as it is"}}).of_findings == {}


def test_a_value_typed_in_the_table_is_taken_and_can_be_taken_back() -> None:
    assert edited({1: {"Value": "d"}}).edits == {(3, "Answer"): "d"}
    assert edited({1: {"Value": None}}).edits == {}


def test_findings_can_be_downloaded_as_a_guarded_table() -> None:
    found = apply(made := csv_table("a?,b,c", header="Question,Answer,=Colour"), suggest_mapping(made))
    text = table_import_doctor.as_csv(found.findings).decode("utf-8-sig")
    assert text.splitlines()[0] == "Row,Column,Code,What,Advice,Done"
    assert text.splitlines()[1].startswith(",'=Colour,unmapped,")


def test_unknown_keys_of_a_benchmark_file_survive_upload_and_download(open_page: Open, store: Store) -> None:
    document = json.loads(Benchmark.create("Small").to_json())
    document["x-unknown"] = {"kept": [1, 2]}
    app = uploaded(open_page(PAGE), json.dumps(document).encode(), "small.jsonld")
    app.button(key="upload_add").click().run()
    assert json.loads(only(store).to_json())["x-unknown"] == {"kept": [1, 2]}


def test_a_benchmark_can_be_downloaded_as_file_workbook_and_table(open_page: Open, store: Store) -> None:
    made = Benchmark.create("My lab: ../x")
    made.add_question("=a?", "b", keywords=["k"])
    benchmark_id = store.benchmarks.save(made)
    labels = [button.proto.label for button in open_page(PAGE).get("download_button")]
    assert labels[:3] == ["Benchmark file (.jsonld)", "Excel (.xlsx)", "CSV (.csv)"]
    text = benchmark_list.as_csv(store.benchmarks.load(benchmark_id)).decode("utf-8-sig")
    assert "'=a?,b,k" in text


def test_a_duplicate_keeps_the_prepared_answers(open_page: Open, store: Store) -> None:
    benchmark_id = store.benchmarks.save(Benchmark.create("Here"))
    table_import_answers.add(benchmark_id, {"A": {"q": "x"}})
    open_page(PAGE).menu_button(key="benchmark_more").set_value("duplicate").run()
    [copy_id] = [row.id for row in store.benchmarks.all() if row.id != benchmark_id]
    assert table_import_answers.of_benchmark(copy_id) == {"A": {"q": "x"}}


# An export of results: a run again, or questions and answers.


@pytest.fixture
def export(demo_run: str, store: Store) -> bytes:
    """The results of the demo, as a file."""
    return to_json(store.results.all(demo_run), store.runs.get(demo_run).config)


def test_results_open_as_a_run(open_page: Open, export: bytes, store: Store) -> None:
    app = uploaded(open_page(PAGE), export, "colleague.json")
    assert "42 evaluations with their evidence." in texts(app)
    app.button(key="results_open").click().run()
    assert not app.exception
    run = next(run for run in store.runs.all() if run.name == "colleague")
    assert (run.done, run.status) == (42, "completed")
    assert app.query_params["run"] == run.id


def test_damaged_results_say_which_one_it_is(open_page: Open, export: bytes, store: Store) -> None:
    app = uploaded(open_page(PAGE), export.replace(b'"status": "completed"', b'"status": "?"', 1), "colleague.json")
    app.button(key="results_open").click().run()
    assert "Result 1 in the file is damaged." in texts(app)
    assert "colleague" not in [run.name for run in store.runs.all()]


def test_answers_of_results_go_to_the_benchmark_that_asked(open_page: Open, export: bytes, store: Store) -> None:
    [row] = store.benchmarks.all()
    store.benchmarks.save(Benchmark.create("Another"))
    app = uploaded(open_page(PAGE), export, "colleague.json")
    app.segmented_control(key="results_way").set_value("answers").run()
    assert labelled(app.selectbox, "Import into").value == row.id
    app.button(key="table_import").click().run()
    assert not app.exception
    kept = table_import_answers.of_benchmark(row.id)
    assert {model: len(answers) for model, answers in kept.items()} == dict.fromkeys(kept, 14) and len(kept) == 3
    assert store.benchmarks.row(row.id).question_count == 14


def test_results_can_be_let_go(open_page: Open, export: bytes) -> None:
    app = uploaded(open_page(PAGE), export, "colleague.json")
    app.button(key="upload_discard").click().run()
    assert "results_open" not in [button.key for button in app.button]

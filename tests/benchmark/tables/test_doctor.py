"""The import doctor: every kind of finding, and the questions that rows become."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

from karenina_core.benchmark import Benchmark, Choices, ColumnMapping, Import, Table, apply, suggest_mapping
from karenina_core.benchmark.tables.doctor import KINDS, Key
from karenina_core.errors import InputError
from karenina_core.schemas.entities.question import question_id
from tests.benchmark.samples import BROKEN_TEMPLATE, TEMPLATE
from tests.benchmark.tables.files import HEADER, csv_table, read, workbook

DAY = datetime.date(2024, 3, 1)


def json_table(*rows: dict[str, Any]) -> Table:
    return read(json.dumps(rows).encode(), "t.json")


def sheet(*rows: tuple[Any, ...], header: tuple[str, ...] = HEADER, merged: tuple[str, ...] = ()) -> Table:
    return read(workbook([header, *rows], merged=merged), "t.xlsx")


def examined(table: Table, existing: Benchmark | None = None, choices: Choices | None = None) -> Import:
    return apply(table, suggest_mapping(table), choices, existing)


def codes(found: Import) -> set[str]:
    return {finding.code for finding in found.findings}


def benchmark() -> Benchmark:
    made = Benchmark.create("Here")
    made.add_question("What is here?", "This", question_id="first")
    return made


LONG = "question,raw_answer,model,response"
# Code → a table it is found in, and one very much like it that it is not found in.
CASES: dict[str, tuple[Table, Table]] = {
    "no_question": (csv_table("a?,b", " ,c"), csv_table("a?,b", "x,c")),
    "no_answer": (csv_table("a?,b", "c?, "), csv_table("a?,b", "c?,0")),
    "duplicate": (csv_table("a?,b", "a?,b"), csv_table("a?,b", "A?,b")),
    "conflict": (csv_table("a?,b", "a?,c"), csv_table("a?,b", "b?,c")),
    "exists": (csv_table("What is here?,b"), csv_table("What is there?,b")),
    "answers_only": (
        csv_table("What is here?,b,M,x", header=LONG),
        csv_table("What is there?,b,M,x", header=LONG),
    ),
    "id_taken": (csv_table("a?,b,1", "c?,d,1", header="Question,Answer,Id"),
                 csv_table("a?,b,1", "c?,d,2", header="Question,Answer,Id")),
    "template": (json_table({"question": "a?", "answer": "b", "template": BROKEN_TEMPLATE}),
                 json_table({"question": "a?", "answer": "b", "template": TEMPLATE})),
    "workspace": (csv_table("a?,b,../x", header="Question,Answer,Workspace"),
                  csv_table("a?,b,task/x", header="Question,Answer,Workspace")),
    "finished": (csv_table("a?,b,perhaps", header="Question,Answer,Finished"),
                 csv_table("a?,b,yes", header="Question,Answer,Finished")),
    "too_long": (csv_table("a?," + "x" * 200_001), csv_table("a?," + "x" * 200_000)),
    "error_value": (sheet(("a?", "#N/A")), sheet(("a?", "N/A"))),
    "no_model": (csv_table("a?,b,M,x", "a?,b,,y", header=LONG), csv_table("a?,b,M,x", "a?,b,,", header=LONG)),
    "repeated_response": (csv_table("a?,b,M,x", "a?,b,M,y", header=LONG),
                          csv_table("a?,b,M,x", "a?,b,N,y", header=LONG)),
    "apostrophe": (csv_table("'=1+1 is?,b"), csv_table("'tis what?,b")),
    "mojibake": (csv_table("cafÃ©?,b"), csv_table("café à Ãland?,b")),
    "invisible": (csv_table("a\u200b?,b"), csv_table("👩\u200d🔬?,b")),
    "blanks": (csv_table("a? ,b"), csv_table("a a?,b")),
    "lost": (csv_table("caf\ufffd?,b"), csv_table("caf?,b")),
    "merged": (sheet(("a?", "b"), ("c?", None), merged=("B2:B3",)), sheet(("a?", "b"), ("c?", "d"))),
    "formula": (read(workbook([HEADER, ("a?", "b")]), "t.xlsx"), csv_table("a?,b")),
    "uncached": (sheet(("a?", "=1+1")), sheet(("a?", "1+1"))),
    "date_number": (sheet(("a?", DAY), ("b?", DAY), ("c?", 45352)), sheet(("a?", 45353), ("b?", 45352))),
    "date_cell": (sheet(("a?", "BCL2"), ("b?", "p53"), ("c?", DAY)), sheet(("a?", DAY), ("b?", DAY))),
    "extra_cells": (csv_table("a?,b", "c?,d,e"), csv_table("a?,b", "c?,d")),
    "unmapped": (csv_table("a?,b,c", header="Question,Answer,Colour"),
                 csv_table("a?,b,c", header="Question,Answer,Keywords")),
}  # fmt: skip


def with_stored_formula() -> Table:
    """Return a table of which one answer is what a formula gave."""
    from tests.benchmark.tables.files import members, repacked

    data = workbook([HEADER, ("a?", "=1+1")])
    xml = next(part for name, part in members(data).items() if name.endswith("sheet1.xml"))
    return read(repacked(data, sheet1=xml.replace(b"<v />", b"<v>2</v>").replace(b"<v/>", b"<v>2</v>")), "t.xlsx")


CASES["formula"] = (with_stored_formula(), sheet(("a?", 2)))


def test_every_kind_has_a_case() -> None:
    assert set(CASES) | {"edited"} == set(KINDS)


@pytest.mark.parametrize("code", CASES)
def test_it_is_found_where_it_is_and_told_in_full(code: str) -> None:
    found = examined(CASES[code][0], benchmark())
    finding = next(finding for finding in found.findings if finding.code == code)
    assert finding.what and finding.advice
    assert finding.choice == KINDS[code].choices[0]
    assert finding.choice != "skip" or finding.row in found.left_out


@pytest.mark.parametrize("code", CASES)
def test_it_is_not_found_where_it_is_not(code: str) -> None:
    assert code not in codes(examined(CASES[code][1], benchmark()))


def decided(table: Table, code: str, choice: Any, existing: Benchmark | None = None) -> Import:
    """Examine again with one decision about everything of a kind."""
    before = examined(table, existing)
    keys: dict[Key, Any] = {finding.key: choice for finding in before.findings if finding.code == code}
    assert keys
    return examined(table, existing, Choices(keys))


@pytest.mark.parametrize(
    ("code", "field", "fixed", "kept"),
    [
        ("apostrophe", "question", "=1+1 is?", "'=1+1 is?"),
        ("mojibake", "question", "café?", "cafÃ©?"),
        ("invisible", "question", "a?", "a\u200b?"),
        ("blanks", "question", "a?", "a? "),
    ],
)
def test_a_repair_is_made_unless_it_is_not_wanted(code: str, field: str, fixed: str, kept: str) -> None:
    table = CASES[code][0]
    assert examined(table).drafts[0].fields[field] == fixed
    assert decided(table, code, "keep").drafts[0].fields[field] == kept
    assert decided(table, code, "skip").drafts == ()


def test_a_number_among_dates_becomes_one() -> None:
    assert examined(CASES["date_number"][0]).drafts[2].fields["raw_answer"] == "2024-03-01"
    assert decided(CASES["date_number"][0], "date_number", "keep").drafts[2].fields["raw_answer"] == "45352"


def test_a_merged_cell_is_filled_unless_it_is_not_wanted() -> None:
    table = CASES["merged"][0]
    assert [draft.fields["raw_answer"] for draft in examined(table).drafts] == ["b", "b"]
    assert codes(decided(table, "merged", "keep")) >= {"merged", "no_answer"}


def test_a_question_can_be_imported_without_its_bad_template() -> None:
    table = CASES["template"][0]
    [finding] = [finding for finding in examined(table).findings if finding.code == "template"]
    assert "line 1" in finding.what
    [draft] = decided(table, "template", "fix").drafts
    assert "answer_template" not in draft.fields


def test_a_column_nothing_was_said_of_is_kept_as_metadata_when_wished() -> None:
    table = CASES["unmapped"][0]
    assert "custom_metadata" not in examined(table).drafts[0].fields
    assert decided(table, "unmapped", "fix").drafts[0].fields["custom_metadata"] == {"Colour": "c"}


def test_an_id_that_is_taken_gives_way_to_that_of_the_text() -> None:
    made = Benchmark.create("New")
    decided(CASES["id_taken"][0], "id_taken", "fix").add_to(made)
    assert made.get_question_ids() == ["1", question_id("c?")]


def test_what_is_typed_takes_the_place_of_the_cell() -> None:
    table = csv_table("a?,b", "c?,")
    assert examined(table).left_out == {3}
    found = examined(table, choices=Choices(edits={(3, "Answer"): "d"}))
    assert (found.left_out, codes(found)) == (frozenset(), {"edited"})
    assert found.drafts[1].fields["raw_answer"] == "d"


def test_a_choice_that_is_not_offered_changes_nothing() -> None:
    table = csv_table("a?,")
    found = examined(table, choices=Choices({(2, "Answer", "no_answer"): "keep"}))
    assert found.left_out == {2}


def test_the_good_rows_are_imported_and_the_others_counted() -> None:
    found = examined(csv_table("a?,b", ",x", "c?,d", "a?,b", "e?,f"))
    assert (found.good, found.total, found.left_out) == (3, 5, {3, 5})
    made = Benchmark.create("New")
    added = found.add_to(made)
    assert [made.get_question(name).question for name in added.question_ids] == ["a?", "c?", "e?"]


def test_every_row_is_either_imported_or_has_a_finding_that_says_why_not() -> None:
    table = csv_table(*("a?,b" for _ in range(5)), ",", ",x", "c?,", "d?,e,f")
    found = examined(table)
    assert found.left_out == {finding.row for finding in found.findings if finding.choice == "skip"}
    assert found.good + len(found.left_out) == len(table.rows)


def test_answers_in_rows_belong_to_one_question() -> None:
    found = examined(csv_table("a?,b,A,x", "a?,,B,y", "c?,d,A,z", header=LONG))
    assert (found.good, len(found.drafts), found.left_out) == (3, 2, frozenset())
    added = found.add_to(Benchmark.create("New"))
    first, second = added.question_ids
    assert added.answers == {"A": {first: "x", second: "z"}, "B": {first: "y"}}


def test_answers_to_questions_of_a_benchmark_are_taken_by_text_or_id() -> None:
    here = benchmark()
    by_text = examined(csv_table("What is here?,,A,x", header=LONG), here)
    assert by_text.add_to(here) == ([], {"A": {"first": "x"}})
    by_id = apply(
        csv_table("first,A,y", header="Id,Model,Response"),
        ColumnMapping(id="Id", model="Model", response="Response"),
        existing=here,
    )
    assert by_id.add_to(here) == ([], {"A": {"first": "y"}})
    assert len(here) == 1


def test_a_row_after_one_that_was_left_out_is_no_repetition() -> None:
    found = examined(csv_table("a?,", "a?,b"))
    assert (found.left_out, codes(found)) == ({2}, {"no_answer"})


def test_more_questions_than_a_benchmark_may_have_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karenina_core.benchmark.tables.doctor.MAX_QUESTIONS", 1)
    here = benchmark()
    with pytest.raises(InputError, match="would have 2 questions"):
        examined(csv_table("a?,b"), here).add_to(here)
    assert len(here) == 1


def imported_from(table: Table) -> Import:
    return apply(table, suggest_mapping(table))


def test_all_fields_arrive() -> None:
    row = {
        "question": "What?", "answer": 23, "id": "q1", "notes": "n", "template": TEMPLATE, "workspace": "task",
        "finished": "yes", "author": "Ada", "e-mail": "a@b.org", "sources": "Smith 2020\nhttps://a.org/b",
        "url": "https://c.org", "keywords": ["x", "y", "x"], "metadata: level": {"a": 1},
    }  # fmt: skip
    made = Benchmark.create("New")
    imported_from(read(json.dumps([row]).encode(), "t.json")).add_to(made)
    [question] = made.get_all_questions()
    assert (question.id, question.question, question.raw_answer, question.finished) == ("q1", "What?", "23", True)
    assert (question.answer_notes, question.workspace_path, question.keywords) == ("n", "task", ["x", "y"])
    assert question.answer_template == TEMPLATE
    assert question.author == {"@type": "Person", "name": "Ada", "email": "a@b.org"}
    assert question.sources == [{"name": "Smith 2020"}, {"url": "https://a.org/b"}]
    assert question.custom_metadata == {"level": {"a": 1}, "url": "https://c.org"}
    assert Benchmark.from_json(made.to_json()) == made


def test_questions_are_unfinished_unless_somebody_says_otherwise() -> None:
    table = csv_table("a?,b")
    assert imported_from(table).drafts[0].fields["finished"] is False
    mapping = ColumnMapping(question="Question", answer="Answer", finish_all=True)
    assert apply(table, mapping).drafts[0].fields["finished"] is True


def test_numbers_and_truth_values_stay_what_they_are_in_metadata() -> None:
    header = ("Question", "Answer", *(f"metadata: {name}" for name in "rst"))
    table = read(workbook([header, ("a?", "b", 2.5, True, "x")]), "t.xlsx")
    assert imported_from(table).drafts[0].fields["custom_metadata"] == {"r": 2.5, "s": True, "t": "x"}


def test_answers_in_a_column_for_each_model_are_kept_by_question() -> None:
    table = csv_table("a?,b, x ,y", "c?,d,,z", header="Question,Answer,Answer: A,Answer: B")
    found = imported_from(table)
    assert found.models == {"A": 1, "B": 2}
    made = Benchmark.create("New")
    first, second = found.add_to(made).question_ids
    assert found.add_to(Benchmark.create("Other")).answers == {"A": {first: " x "}, "B": {first: "y", second: "z"}}


@pytest.mark.parametrize(("cell", "finished"), [("yes", True), ("no", False), ("", False)])
def test_a_column_may_say_which_questions_are_finished(cell: str, finished: bool) -> None:
    table = csv_table(f"a?,b,{cell}", header="Question,Answer,Finished")
    assert imported_from(table).drafts[0].fields["finished"] is finished


def test_what_a_row_says_nothing_about_is_left_out() -> None:
    assert set(imported_from(csv_table("a?,b")).drafts[0].fields) == {"question", "raw_answer", "finished"}


def test_every_answer_needs_its_model() -> None:
    table = csv_table("a?,b,,x", "c?,d,A,y", header="question,raw_answer,model,response")
    found = imported_from(table)
    assert found.models == {"A": 1}
    assert [(finding.row, finding.code) for finding in found.findings] == [(2, "no_model")]

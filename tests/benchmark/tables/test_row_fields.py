from __future__ import annotations

import json

import pytest

from karenina_core.benchmark import Benchmark, ColumnMapping, Import, Table, apply, suggest_mapping
from tests.benchmark.samples import TEMPLATE
from tests.benchmark.tables.files import csv_table, read, workbook


def examined(table: Table) -> Import:
    return apply(table, suggest_mapping(table))


def test_all_fields_arrive() -> None:
    row = {
        "question": "What?", "answer": 23, "id": "q1", "notes": "n", "template": TEMPLATE, "workspace": "task",
        "finished": "yes", "author": "Ada", "e-mail": "a@b.org", "sources": "Smith 2020\nhttps://a.org/b",
        "url": "https://c.org", "keywords": ["x", "y", "x"], "metadata: level": {"a": 1},
    }  # fmt: skip
    made = Benchmark.create("New")
    examined(read(json.dumps([row]).encode(), "t.json")).add_to(made)
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
    assert examined(table).drafts[0].fields["finished"] is False
    mapping = ColumnMapping(question="Question", answer="Answer", finish_all=True)
    assert apply(table, mapping).drafts[0].fields["finished"] is True


def test_numbers_and_truth_values_stay_what_they_are_in_metadata() -> None:
    header = ("Question", "Answer", *(f"metadata: {name}" for name in "rst"))
    table = read(workbook([header, ("a?", "b", 2.5, True, "x")]), "t.xlsx")
    assert examined(table).drafts[0].fields["custom_metadata"] == {"r": 2.5, "s": True, "t": "x"}


def test_answers_in_a_column_for_each_model_are_kept_by_question() -> None:
    table = csv_table("a?,b, x ,y", "c?,d,,z", header="Question,Answer,Answer: A,Answer: B")
    found = examined(table)
    assert found.models == {"A": 1, "B": 2}
    made = Benchmark.create("New")
    first, second = found.add_to(made).question_ids
    assert found.add_to(Benchmark.create("Other")).answers == {"A": {first: " x "}, "B": {first: "y", second: "z"}}


@pytest.mark.parametrize(("cell", "finished"), [("yes", True), ("no", False), ("", False)])
def test_a_column_may_say_which_questions_are_finished(cell: str, finished: bool) -> None:
    table = csv_table(f"a?,b,{cell}", header="Question,Answer,Finished")
    assert examined(table).drafts[0].fields["finished"] is finished


def test_what_a_row_says_nothing_about_is_left_out() -> None:
    assert set(examined(csv_table("a?,b")).drafts[0].fields) == {"question", "raw_answer", "finished"}


def test_every_answer_needs_its_model() -> None:
    table = csv_table("a?,b,,x", "c?,d,A,y", header="question,raw_answer,model,response")
    found = examined(table)
    assert found.models == {"A": 1}
    assert [(finding.row, finding.code) for finding in found.findings] == [(2, "no_model")]

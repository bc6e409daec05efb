"""Which column means what: suggested, and checked."""

from __future__ import annotations

import pytest

from karenina_core.benchmark import ColumnMapping, KeywordColumn, model_of, suggest_mapping
from karenina_core.errors import InputError
from tests.benchmark.samples import small_benchmark
from tests.benchmark.tables.files import csv_table, read


def suggested(header: str, *rows: str) -> ColumnMapping:
    return suggest_mapping(csv_table(*(rows or ("a," * header.count(",") + "a",)), header=header))


@pytest.mark.parametrize(
    ("header", "question", "answer"),
    [
        ("Question,Answer", "Question", "Answer"),
        ("prompt,expected", "prompt", "expected"),
        ("INPUT,Ground Truth", "INPUT", "Ground Truth"),
        ("Frage,Antwort", "Frage", "Antwort"),
        ("question_text,raw_answer,answer", "question_text", "raw_answer"),
        ("question,Correct response", "question", "Correct response"),
        ("question,gold", "question", "gold"),
        ("input,target", "input", "target"),
        ("input,label", "input", "label"),
        ("question,Golden Answer", "question", "Golden Answer"),
    ],
)
def test_question_and_answer_are_found_by_name(header: str, question: str, answer: str) -> None:
    mapping = suggested(header)
    assert (mapping.question, mapping.answer) == (question, answer)


def test_the_other_columns_are_found_by_name() -> None:
    header = "ID,Question,Answer,Notes,Author,E-mail,Affiliation,Sources,URL,Template,Workspace Path,Finished"
    roles = suggested(header).roles()
    assert list(roles) == [
        "question", "answer", "id", "notes", "template", "workspace", "finished", "author", "author_email",
        "author_affiliation", "sources", "url",
    ]  # fmt: skip


def test_keywords_come_with_the_separator_of_their_cells() -> None:
    mapping = suggested("question,answer,tags,Topic", 'a?,b,x; y,"u, v"', "c?,d,z; w,u")
    assert mapping.keywords == (KeywordColumn("tags", ";"), KeywordColumn("Topic", ","))


def test_columns_of_an_export_are_found_again() -> None:
    mapping = suggest_mapping(read(small_benchmark().to_xlsx(), "b.xlsx"))
    assert (mapping.id, mapping.question, mapping.answer) == ("Question ID", "Question", "Raw Answer")
    assert (mapping.template, mapping.finished, mapping.workspace) == ("Template", "Finished", "Workspace Path")


def test_a_question_is_found_by_its_marks_where_no_name_tells() -> None:
    mapping = suggested("links,rechts", "What?,a", "Why?,b", "How?,c")
    assert (mapping.question, mapping.answer) == ("links", "rechts")


def test_nothing_is_guessed_from_nothing() -> None:
    assert suggested("links,rechts", "a,b", "c,d").question is None


@pytest.mark.parametrize(
    ("column", "model"),
    [
        ("Answer: GPT-4", "GPT-4"),
        ("answer_gpt4", "gpt4"),
        ("Response (claude 3)", "claude 3"),
        ("Answer by Llama", "Llama"),
        ("GPT-4 answer", "GPT-4"),
        ("Claude's response", "Claude"),
        ("Llama 3", "Llama 3"),
        ("Raw Answer", "Raw Answer"),
        ("response_time", "response_time"),
        ("answer", "answer"),
    ],
)
def test_a_column_of_answers_is_named_after_its_model(column: str, model: str) -> None:
    assert model_of(column) == model


def test_a_column_for_each_model_is_found() -> None:
    mapping = suggested("question,answer,Answer: GPT-4,Answer: Llama")
    assert mapping.model_columns == ("Answer: GPT-4", "Answer: Llama")


def test_a_model_and_its_answer_in_two_columns_are_found() -> None:
    mapping = suggested("question,raw_answer,model,response")
    assert (mapping.answer, mapping.model, mapping.response) == ("raw_answer", "model", "response")


def test_beside_a_model_a_plain_answer_is_that_of_the_model() -> None:
    mapping = suggested("question,answer,model")
    assert (mapping.answer, mapping.model, mapping.response) == (None, "model", "answer")


TABLE = csv_table("a,b,c", header="Question,Answer,Model")


@pytest.mark.parametrize(
    ("mapping", "reason"),
    [
        (ColumnMapping(), "No column is chosen for the questions"),
        (ColumnMapping(question="Q"), "no column 'Q'"),
        (ColumnMapping(question="Question", answer="Question"), "used for two things"),
        (ColumnMapping(question="Question", metadata=("Answer",), answer="Answer"), "used for two things"),
        (ColumnMapping(question="Question", model="Model"), "none holds their answers"),
        (ColumnMapping(id="Question"), "No column is chosen for the questions"),
    ],
)
def test_a_mapping_that_does_not_fit_is_refused(mapping: ColumnMapping, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        mapping.check(TABLE)


@pytest.mark.parametrize(
    ("mapping", "missing"),
    [
        (ColumnMapping(), "question"),
        (ColumnMapping(question="q"), "answer"),
        (ColumnMapping(id="i"), "question"),
        (ColumnMapping(question="q", answer="a"), ""),
        (ColumnMapping(question="q", response="r"), ""),
        (ColumnMapping(id="i", model_columns=("m",)), ""),
    ],
)
def test_it_says_which_column_has_to_be_chosen_first(mapping: ColumnMapping, missing: str) -> None:
    assert mapping.missing == missing

"""A file that is written piece by piece is the file that would be written as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.benchmark import Benchmark
from karenina_core.benchmark.checkpoint.document import ELEMENTS, document_pieces, write_frame
from karenina_core.benchmark.checkpoint.questions import write_entry
from karenina_core.errors import CheckpointError
from karenina_core.files import OWN_BYTES, json_bytes, read_json


def whole(benchmark: Benchmark, *, limit: int = OWN_BYTES) -> bytes:
    contents = benchmark._contents
    elements = [write_entry(entry) for entry in contents.entries.values()]
    return json_bytes({**write_frame(contents), ELEMENTS: elements}, limit=limit)


def in_pieces(benchmark: Benchmark, *, limit: int = OWN_BYTES) -> bytes:
    return b"".join(document_pieces(benchmark._contents, limit=limit))


def of_questions(*fields: Mapping[str, Any]) -> Benchmark:
    made = Benchmark.create("Made")
    for number, given_fields in enumerate(fields):
        made.add_question({"raw_answer": "So.", **given_fields}, question_id=f"q{number}")
    return made


def with_half_a_pair(questions: int) -> Benchmark:
    """Return a benchmark whose last question holds data that changed after it was taken."""
    data: dict[str, str] = {}
    made = of_questions(*({"question": f"Question {number}?"} for number in range(1, questions)))
    made.add_question("Last?", "So.", custom_metadata={"data": data})
    data["text"] = "half \ud800 a pair"
    return made


@pytest.mark.parametrize("count", [0, 1, 2, 199, 200, 201, 450])
def test_any_number_of_questions_gives_the_same_bytes(count: int) -> None:
    made = of_questions(*({"question": f"Question {number}?"} for number in range(count)))
    assert in_pieces(made) == whole(made)
    assert len(read_json(in_pieces(made))[ELEMENTS]) == count


@given(st.lists(st.text(min_size=1).filter(str.strip), max_size=5), st.text())
def test_any_text_gives_the_same_bytes(texts: list[str], name: str) -> None:
    made = of_questions(*({"question": text, "custom_metadata": {text: [text]}} for text in texts))
    made.set_custom_property("x" + name, {ELEMENTS: [name]})
    assert in_pieces(made) == whole(made)


def test_a_text_that_looks_like_the_list_of_questions_is_only_a_text() -> None:
    line = f'\n  "{ELEMENTS}": ['
    made = of_questions({"question": line})
    made.description = line
    assert in_pieces(made) == whole(made)
    assert Benchmark.from_json(in_pieces(made)).description == line


def nested(depth: int) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("fields", "limit"),
    [
        ({"answer_notes": "x" * 200_001}, OWN_BYTES),
        ({"custom_metadata": {"deep": nested(300)}}, OWN_BYTES),
        ({"custom_metadata": {"large": float("inf")}}, OWN_BYTES),
        ({"answer_notes": "x" * 100_000}, 50_000),
        ({"custom_metadata": {"many": [0] * 2_100_000}}, 20_000_000),
    ],
    ids=["long text", "deep", "infinite", "too large", "too many values"],
)
def test_what_could_not_be_read_back_is_refused_in_the_same_words(fields: dict[str, Any], limit: int) -> None:
    made = of_questions({"question": "First?"}, {"question": "Second?", **fields})
    with pytest.raises(CheckpointError) as as_a_whole:
        whole(made, limit=limit)
    with pytest.raises(CheckpointError) as as_pieces:
        in_pieces(made, limit=limit)
    assert as_pieces.value.code == as_a_whole.value.code


@pytest.mark.parametrize("depth", range(188, 200))
def test_the_deepest_nesting_is_the_same(depth: int) -> None:
    made = of_questions({"question": "Deep?", "custom_metadata": {"deep": nested(depth)}})
    try:
        expected = whole(made)
    except CheckpointError:
        with pytest.raises(CheckpointError, match="nested"):
            in_pieces(made)
    else:
        assert in_pieces(made) == expected


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path: Path) -> None:
    path = of_questions({"question": "First?"}).save(tmp_path / "made.jsonld")
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match="surrogate"):
        with_half_a_pair(450).save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["made.jsonld"]


def test_a_benchmark_that_changes_meanwhile_is_written_as_it_was() -> None:
    made = of_questions(*({"question": f"Question {number}?"} for number in range(450)))
    before = whole(made)
    pieces = made.json_pieces()
    begun = [next(pieces), next(pieces)]
    made.add_question("One more?", raw_answer="Yes")
    assert b"".join((*begun, *pieces)) == before

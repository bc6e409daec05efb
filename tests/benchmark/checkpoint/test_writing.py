"""What is written can be read back, and what could not be is refused while the old file still exists."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.benchmark import Benchmark
from karenina_core.benchmark.checkpoint.document import ELEMENTS, document_bytes, write_frame
from karenina_core.benchmark.checkpoint.questions import write_entry
from karenina_core.errors import CheckpointError
from karenina_core.files import OWN_BYTES, json_bytes


def whole(benchmark: Benchmark, *, limit: int = OWN_BYTES) -> bytes:
    contents = benchmark._contents
    elements = [write_entry(entry) for entry in contents.entries.values()]
    return json_bytes({**write_frame(contents), ELEMENTS: elements}, limit=limit)


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


@given(st.lists(st.text(min_size=1).filter(str.strip), max_size=5), st.text())
def test_any_text_is_read_again(texts: list[str], name: str) -> None:
    made = of_questions(*({"question": text, "custom_metadata": {text: [text]}} for text in texts))
    made.set_custom_property("x" + name, {ELEMENTS: [name]})
    assert Benchmark.from_json(made.to_bytes()) == made
    assert made.to_bytes() == whole(made)


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
    with pytest.raises(CheckpointError) as as_bytes:
        document_bytes(made._contents, limit=limit)
    assert as_bytes.value.code == as_a_whole.value.code


@pytest.mark.parametrize("depth", range(188, 200))
def test_the_deepest_nesting_is_the_same(depth: int) -> None:
    made = of_questions({"question": "Deep?", "custom_metadata": {"deep": nested(depth)}})
    try:
        expected = whole(made)
    except CheckpointError:
        with pytest.raises(CheckpointError, match="nested"):
            made.to_bytes()
    else:
        assert made.to_bytes() == expected


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path: Path) -> None:
    path = of_questions({"question": "First?"}).save(tmp_path / "made.jsonld")
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match="surrogate"):
        with_half_a_pair(450).save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["made.jsonld"]

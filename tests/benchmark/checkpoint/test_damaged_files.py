"""Files damaged at random: read with repairs or refused with a reason, never worse."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.benchmark import Benchmark
from karenina_core.benchmark.checkpoint.document import read_document
from karenina_core.errors import CheckpointError
from tests.benchmark.checkpoint.test_ratings import NINE
from tests.benchmark.samples import BH3, FILES, document, item, prop, rating, small_benchmark

PRESENT = document(
    item(
        keywords=["a"],
        rating=[rating("QuestionSpecificRegexTrait", prop("pattern", "x"))],
        additionalProperty=[prop("finished", True), prop("author", {"name": "A"}), prop("sources", [{"name": "B"}])],
    ),
    item("Another?"),
    rating=list(NINE.values()),
    additionalProperty=[prop("global_rubric_traits", [{"name": "L"}]), prop("checkpoint_format_version", "3")],
)
ALL = [PRESENT, *(json.loads(path.read_text()) for path in sorted(FILES.glob("d*.json")))]
SCALARS = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.sampled_from(["", "x", "[1]", "{}", "\n"])
)
JUNK = (
    SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.sampled_from(["name", "text", "item", "x"]), SCALARS)
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container of a document with every key or index in it."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from places(value[key])


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    content = copy.deepcopy(draw(st.sampled_from(ALL)))
    for _ in range(draw(st.integers(1, 4))):
        container, key = draw(st.sampled_from(list(places(content))))
        if isinstance(container, dict) and key in container and draw(st.booleans()):
            del container[key]
        elif isinstance(container, dict) or key < len(container):
            container[key] = draw(JUNK)
    return content


@settings(max_examples=300, deadline=None)
@given(damaged())
def test_a_damaged_file_is_read_or_refused(content: Any) -> None:
    before = copy.deepcopy(content)
    try:
        read_document(content)
        benchmark = Benchmark.from_json(json.dumps(content))
    except CheckpointError as error:
        assert error.code == "not_a_benchmark"
        return
    assert content == before
    saved = benchmark.to_json()
    again = Benchmark.from_json(saved)
    assert again.to_json() == saved
    assert [question.id for question in again] == [question.id for question in benchmark]
    benchmark.check()
    benchmark.to_csv()
    benchmark.to_markdown()


@settings(max_examples=50, deadline=None)
@given(damaged())
def test_a_damaged_benchmark_can_still_be_worked_on(content: Any) -> None:
    try:
        benchmark = Benchmark.from_json(json.dumps(content))
    except CheckpointError:
        return
    benchmark.add_questions(list(small_benchmark()))
    for question_id in benchmark.get_question_ids():
        benchmark.toggle_finished(question_id)
        benchmark.set_question_rubric(question_id, {"traits": [BH3.model_dump()]})
    assert Benchmark.from_json(benchmark.to_json()) == benchmark

"""What a benchmark says of itself."""

from __future__ import annotations

import pytest

from karenina_core.benchmark import Benchmark
from karenina_core.errors import InputError
from tests.benchmark.samples import small_benchmark


@pytest.fixture
def benchmark() -> Benchmark:
    return small_benchmark()


def test_metadata_can_be_changed(benchmark: Benchmark) -> None:
    benchmark.name, benchmark.description, benchmark.version = "Other", "About", "2.0.0"
    benchmark.creator = {"@type": "Person", "name": "Ada"}
    again = Benchmark.from_json(benchmark.to_json())
    assert (again.name, again.description, again.version) == ("Other", "About", "2.0.0")
    assert again.creator == {"@type": "Person", "name": "Ada"}
    assert again.modified_at > again.created_at


def test_a_blank_name_is_refused(benchmark: Benchmark) -> None:
    with pytest.raises(InputError, match="needs a name"):
        benchmark.set_metadata(name=" ")


@pytest.mark.parametrize("field", ["name", "description", "version", "creator"])
def test_half_a_surrogate_pair_is_refused_in_words(benchmark: Benchmark, field: str) -> None:
    before = benchmark.to_json()
    with pytest.raises(InputError, match=f"The benchmark's {field} holds half a surrogate pair"):
        benchmark.set_metadata(**{"name": "New", field: "a\ud800"})
    with pytest.raises(InputError, match=f"The benchmark's {field} holds half a surrogate pair"):
        Benchmark.create(**{"name": "New", field: "a\ud800"})
    assert benchmark.to_json() == before


@pytest.mark.parametrize(("name", "value"), [("a\ud800", 1), ("a", {"b": ["\udfff"]})])
def test_half_a_surrogate_pair_in_a_property_is_refused_in_words(
    benchmark: Benchmark, name: str, value: object
) -> None:
    with pytest.raises(InputError, match="holds half a surrogate pair"):
        benchmark.set_custom_property(name, value)
    assert benchmark.get_all_custom_properties() == {}


def test_counts_and_progress(benchmark: Benchmark) -> None:
    assert (benchmark.question_count, benchmark.finished_count) == (3, 2)
    assert benchmark.get_progress() == pytest.approx(66.67, abs=0.01)
    assert not benchmark.is_complete
    benchmark.mark_finished("sky")
    benchmark.copy_template("sky", "lungs")
    assert benchmark.is_complete
    assert benchmark.get_progress() == 100


def test_an_empty_benchmark_is_not_complete() -> None:
    empty = Benchmark.create("Empty")
    assert empty.is_empty
    assert not empty.is_complete
    assert empty.get_progress() == 0


def test_custom_properties(benchmark: Benchmark) -> None:
    benchmark.set_custom_property("project", {"id": 3})
    benchmark.set_custom_property("a", 1)
    benchmark.set_custom_property("b", None)
    again = Benchmark.from_json(benchmark.to_json())
    assert again.get_all_custom_properties() == {"project": {"id": 3}, "a": 1, "b": None}
    assert again.remove_custom_property("project")
    assert not again.remove_custom_property("project")
    assert again.get_custom_property("project", "none") == "none"
    assert Benchmark.from_json(again.to_json()).get_all_custom_properties() == {"a": 1, "b": None}


@pytest.mark.parametrize("name", ["", "benchmark_format_version", "global_rubric_traits"])
def test_names_of_the_format_are_reserved(benchmark: Benchmark, name: str) -> None:
    with pytest.raises(InputError, match="reserved"):
        benchmark.set_custom_property(name, 1)

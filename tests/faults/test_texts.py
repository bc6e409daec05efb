"""Whatever models say, in whatever script, comes back from every database and out of every export."""

from __future__ import annotations

import asyncio
import csv
import io
import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karenina_core.analysis import read_results, to_csv, to_json
from karenina_core.errors import CheckpointError, InputError
from karenina_core.models import ChatReply, call_key
from karenina_core.runs import Store, wanted
from karenina_core.runs.engine.ledger import StoreLedger
from karenina_core.runs.engine.writer import BatchWriter
from karenina_core.runs.store.database import clean
from karenina_core.schemas import VerificationResult
from tests.faults.openai_server import Reply
from tests.faults.road import Road, honest, model, verdicts
from tests.runs.fakes import answer_request, full_result, small_benchmark, small_config, stored_scores

TEXTS = {
    "NUL": "a\0b",
    "lone surrogate": "a\ud83d b",
    "surrogate pair": "😀🧬",
    "right to left": "שלום \u202eevil\u202c مرحبا",
    "joined emoji": "👩\u200d👩\u200d👧\u200d👦 e\u0301",
    "invisible": "\ufeff\u200b\u2060x\u00ad",
    "control": "\x01\x1b[31m\x7f\x85",
    "lines": "a\r\nb\u2028c\u2029d\x0b",
    "formula": "=1+1",
    "quotes": "\"'`,;\\\\n",
    "far planes": "\U0010ffff\U000e0041𝔘",
    "noncharacter": "\ufffe\uffff",
}
any_text = st.text(st.characters(exclude_categories=()), max_size=40)
any_number = st.floats(allow_nan=True, allow_infinity=True)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def kept_open(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, str]]:
    """A store that all examples share."""
    if request.param == "sqlite":
        url = str(tmp_path_factory.mktemp("texts") / "karenina.db")
    else:
        socket = request.getfixturevalue("postgres_socket")
        url = f"postgresql://postgres@/postgres?host={socket}"
    with Store.open(url) as store:
        yield store, store.runs.create(wanted(small_benchmark(1), small_config()))


def comparable(result: VerificationResult) -> dict[str, Any]:
    # Not as JSON: there half a surrogate pair in the name of a trait would become three signs instead of one.
    return clean(result.model_dump())  # type: ignore[no-any-return]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=any_text, reason=any_text, name=any_text.filter(bool), number=any_number)
def test_any_text_and_number_survives_store_and_export(
    kept_open: tuple[Store, str], text: str, reason: str, name: str, number: float
) -> None:
    store, run_id = kept_open
    result = full_result("q1", text)
    assert result.template is not None
    result.template.fields[0].reason = reason
    result.template.fields[0].extracted = [text, number]
    result.rubric.regex[name] = True
    result.rubric.metrics["Organs"]["precision"] = number
    store.results.save(run_id, [result])
    (stored,) = store.results.all(run_id)
    if not math.isfinite(number):
        del result.rubric.metrics["Organs"]["precision"]
        result.rubric.confusion["Organs"].undefined.append("precision")
    assert comparable(stored) == comparable(result)
    assert clean(name) in {row["trait"] for row in stored_scores(store, run_id)}
    (exported,) = read_results(to_json([stored]))
    assert comparable(exported) == comparable(stored)
    rows = list(csv.reader(io.StringIO(to_csv([stored]).decode("utf-8-sig"), newline="")))
    assert len(rows) == 2 and len(rows[0]) == len(rows[1])


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=any_text)
def test_any_reply_survives_the_ledger(kept_open: tuple[Store, str], text: str) -> None:
    store, _ = kept_open
    model = small_config().answering_models[0]
    request = answer_request("q1", model)
    key = call_key(model, request)
    writer = BatchWriter(store)
    ledger = StoreLedger(store, writer)

    async def there_and_back() -> ChatReply | None:
        await ledger.put(key, request, model, ChatReply(text))
        return await ledger.get(key)

    try:
        reply = asyncio.run(there_and_back())
    finally:
        ledger.close()
        writer.close()
    assert reply is not None and reply.text == clean(text)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_model_is_told_anything_and_its_run_can_be_resumed(road: Road, text: str) -> None:
    """What was stored of a configuration is still that of the run."""
    briefed = model(road.server, system_prompt=f"Be brief. {text}")
    run_id = road.begin(1, answering_models=[briefed])
    assert road.finish(run_id).passed == 1
    assert verdicts(road.resume(run_id)) == ["pass"]
    prompt = road.server.requests[0]["messages"][0]["content"]
    assert prompt == f"Be brief. {clean(text)}"


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_an_answer_in_any_script_goes_the_whole_road(road: Road, text: str) -> None:
    def script(request: dict[str, Any]) -> Reply:
        reply = honest(request)
        return reply if request["model"] == "judge" else Reply(f"{reply.text} {text}")

    road.server.script = script
    (result,) = road.run(1)
    assert result.verdict == "pass"
    cleaned = clean(text)
    assert result.raw_llm_response == f"The island has the sign S1. {cleaned}"
    (exported,) = read_results(to_json([result]))
    assert exported.raw_llm_response == result.raw_llm_response


@pytest.mark.parametrize("text", [text for text in TEXTS.values() if "\ud83d" not in text], ids=ascii)
def test_a_benchmark_comes_back_as_it_was_and_its_run_has_a_clean_name(any_store: Store, text: str) -> None:
    run_id = any_store.runs.create(wanted(small_benchmark(1, f"B{text}"), small_config()), f"R{text}")
    assert any_store.runs.get(run_id).name == f"R{clean(text)}"
    assert any_store.runs.plan(run_id).benchmark.name == f"B{text}"


def test_half_a_surrogate_pair_in_a_benchmark_is_refused_in_words(any_store: Store) -> None:
    with pytest.raises(InputError, match="half a surrogate pair"):
        small_benchmark(1, "B\ud83d")
    benchmark = small_benchmark(1)
    properties: dict[str, str] = {}
    benchmark.set_custom_property("late", properties)
    properties["text"] = "B\ud83d"
    with pytest.raises(CheckpointError, match="half a surrogate pair"):
        any_store.runs.create(wanted(benchmark, small_config()))
    assert any_store.runs.all() == []


def test_a_result_with_an_undefined_metric_can_be_replaced(any_store: Store) -> None:
    run_id = any_store.runs.create(wanted(small_benchmark(1), small_config()))
    for number in (math.nan, 1.0, math.inf, 0.5):
        result = full_result("q1")
        result.rubric.metrics["Organs"]["precision"] = number
        any_store.results.save(run_id, [result])
    (value,) = [row["value"] for row in stored_scores(any_store, run_id) if row["metric"] == "precision"]
    assert value == 0.5

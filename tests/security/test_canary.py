"""Keys are planted, a whole run is made and fails in loud ways, and every file and page is searched for them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from karenina_core.analysis import to_csv, to_json
from karenina_core.cli import main
from karenina_core.runs import Engine, Store, wanted
from karenina_core.schemas import ModelConfig, VerificationConfig
from pages.components import frame, services, session_keys
from tests.app.samples import TEMPLATE, small_benchmark
from tests.faults.openai_server import OpenAIServer, Reply, failing

ROOT = Path(__file__).parents[2]
PAGES = list(frame.PAGES)
# Of no known shape, so that nothing but its value gives it away.
ENVIRONMENT = "canary-environment-7f3a9c1e"
TYPED = "canary-typed-5b8d2e4f"
CANARIES = (ENVIRONMENT, TYPED)


@pytest.fixture(autouse=True)
def fresh_services(own_environment: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TEAM_API_KEY", ENVIRONMENT)
    yield
    services.runner.clear()
    services.store.clear()
    st.cache_data.clear()


def leaks(sent: dict[str, Any], key: str) -> Reply:
    """Answer as a careless provider: the key in replies, in half of the errors, in both shapes of a refusal."""
    text = sent["messages"][-1]["content"]
    if "chromosome" in text:
        return failing(401, f"Incorrect API key provided: {key}. Authorization: Bearer {key}")
    if "response_format" in sent:
        return Reply('{"target": "BCL2 ' + key + '"}')
    return Reply(f"BCL2. Your key is {key}.")


def models(server: OpenAIServer, variable: str) -> VerificationConfig:
    model = ModelConfig(
        interface="openai_endpoint", model_name="gpt-test", endpoint_base_url=server.url, api_key_env=variable
    )
    return VerificationConfig(answering_models=[model], parsing_models=[model], max_attempts=1)


def make_run(server: OpenAIServer, variable: str, keys: Any = None) -> str:
    benchmark = small_benchmark()
    benchmark.add_question("Who has a chromosome too many?", "nobody", TEMPLATE)
    benchmark_id = services.store().benchmarks.save(benchmark)
    plan = wanted(benchmark, models(server, variable))
    run_id = services.store().runs.create(plan, "Canary", benchmark_id=benchmark_id)
    services.runner().start(run_id, keys=keys)
    assert services.runner().wait(run_id, 60).status == "completed"
    return run_id


def found(text: str | bytes) -> list[str]:
    """Return the canaries in a text."""
    data = text.encode() if isinstance(text, str) else text
    return [canary for canary in CANARIES if canary.encode() in data]


def every_page(run_id: str) -> str:
    """Return all that all pages send to a browser."""
    sent = []
    for page in PAGES:
        for result in services.store().results.all(run_id) if page == frame.ANSWER else [None]:
            app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
            app.query_params["run"] = run_id
            if result is not None:
                app.query_params["row"] = result.result_id
            app = app.switch_page(page).run() if page != frame.HOME else app.run()
            assert not app.exception
            sent += [str(element.proto) for element in app.main] + [str(app.main), str(app.sidebar)]
    return "\n".join(sent)


@pytest.mark.parametrize("origin", ["environment", "typed"])
def test_a_key_is_in_nothing_the_workbench_writes_or_shows(
    origin: str,
    openai_server: OpenAIServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    key = ENVIRONMENT if origin == "environment" else TYPED
    openai_server.script = lambda sent: leaks(sent, key)
    if origin == "typed":
        run_id = make_run(openai_server, "SESSION_API_KEY", {"SESSION_API_KEY": TYPED}.get)
    else:
        run_id = make_run(openai_server, "TEAM_API_KEY")
    # The key was really sent and really came back, in a reply and in an error.
    assert {headers["Authorization"] for headers in openai_server.headers} == {f"Bearer {key}"}
    results = services.store().results.all(run_id)
    assert "[hidden]" in "".join(result.answer.text for result in results if result.answer)
    assert "[hidden]" in "".join(result.failure.reason for result in results if result.failure)
    logging.getLogger("karenina_core").error("The run: %s", results)

    assert not found(every_page(run_id))
    assert not found(to_csv(results))
    assert not found(to_json(results, services.store().runs.get(run_id).config))
    assert not found(services.store().runs.get(run_id).config.model_dump_json())
    assert not found(str(services.store().settings.all()))
    for arguments in (["show", run_id], ["show", run_id, "--json"], ["runs", "--json"]):
        main(arguments)
    for kind in ("csv", "json"):
        main(["export", run_id, "--format", kind, "--out", str(tmp_path / f"results.{kind}")])
    services.runner.clear()
    services.store.clear()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"karenina.db", "results.csv", "results.json"} <= {path.name for path in files}
    assert not [path.name for path in files if found(path.read_bytes())]
    assert not found(caplog.text)
    assert not found("".join(capfd.readouterr()))


def test_a_failing_run_on_the_command_line_keeps_the_key(
    openai_server: OpenAIServer, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    openai_server.script = [failing(401, f"Bad key {ENVIRONMENT}")]
    small_benchmark().save(tmp_path / "small.jsonld")
    model = ["--answering", "openai/gpt-test", "--judge", "openai/gpt-test", "--base-url", openai_server.url]
    assert main(["run", str(tmp_path / "small.jsonld"), *model, "--api-key-env", "TEAM_API_KEY", "--json", "-"]) == 1
    shown = "".join(capfd.readouterr())
    assert "[hidden]" in shown
    assert not found(shown)


def test_a_run_uses_the_keys_of_the_session_that_started_it(openai_server: OpenAIServer, tmp_path: Path) -> None:
    config = models(openai_server, "SESSION_API_KEY")
    with Store.open(tmp_path / "two.db") as store, Engine(store) as runner:
        for name, key in (("ada", "key-of-ada-123"), ("bob", "key-of-bob-456"), ("eve", None)):
            benchmark = small_benchmark()
            benchmark.add_question(f"Who is {name}?", name, TEMPLATE)
            run_id = store.runs.create(wanted(benchmark, config), name)
            runner.start(run_id, keys={"SESSION_API_KEY": key}.get)
            runner.wait(run_id, 60)
    keys = {
        name: headers["Authorization"]
        for request, headers in zip(openai_server.requests, openai_server.headers, strict=True)
        for name in ("ada", "bob", "eve")
        if f"Who is {name}?" in str(request["messages"])
    }
    assert keys == {"ada": "Bearer key-of-ada-123", "bob": "Bearer key-of-bob-456"}


def test_a_key_typed_on_a_page_serves_the_runs_started_from_it() -> None:
    def page() -> None:
        from pages.components import session_keys

        session_keys.draw()

    app = AppTest.from_function(page).run()
    app.text_input(key="typed_OPENAI_API_KEY").input(TYPED)
    app = app.button[0].click().run()
    held = app.session_state[session_keys._HELD]
    assert held.source()("OPENAI_API_KEY") == TYPED
    assert not found(f"{app.main}{app.session_state}")

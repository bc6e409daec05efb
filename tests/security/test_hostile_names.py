"""Names made of markup, control and bidi characters, on every page: nothing reaches a browser invisible.

What a page sends is searched as a whole, whatever the element, so that a new table, option list or figure is searched
too. Only what a person edits is sent as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import streamlit as st
from google.protobuf.message import Message
from streamlit.testing.v1 import AppTest

from karenina_core.benchmark import Benchmark
from karenina_core.runs import wanted
from karenina_core.schemas import (
    FieldEvidence,
    ManualRubricTrait,
    MetricRubricTrait,
    ModelConfig,
    Rubric,
    RubricTrait,
    VerificationConfig,
)
from pages.components import frame, services
from pages.components.results import charts
from tests.runs.fakes import full_result

ROOT = Path(__file__).parents[2]
INVISIBLE = ("\u202e", "\u2066", "\x07", "\U000e0041", "\u2028")
HOSTILE = "".join(INVISIBLE) + "gpj ![x](http://127.0.0.1:9/x.png) <b>b</b> :red[r] $x$"
TEMPLATE = f'''class Answer(BaseAnswer):
    """{HOSTILE}"""

    target: str = VerifiedField(description="{HOSTILE}", ground_truth="{HOSTILE}", verify_with=ExactMatch())
    kind: Literal["{HOSTILE}", "b"] = Field(description="d")  # {HOSTILE}
'''.replace("\u2028", "").replace("\x07", "")
PAGES = list(frame.PAGES)
IDENTITIES = {"id", "form_id"}
JSON = {"Json.body", "PlotlyChart.spec", "PlotlyChart.config", "Dataframe.columns", "Arrow.columns"}
# Places on an axis with texts of their own, and what a click sends back: in a figure, but never shown.
UNSHOWN = {"customdata", "x", "y", "tickvals", "categoryarray"}
# What a person edits has to be the text itself.
EDITED = {("TextArea", "default"), ("TextInput", "default"), ("TextArea", "value"), ("TextInput", "value")}


@pytest.fixture(autouse=True)
def fresh_services() -> Iterator[None]:
    """Let every test have a store and a runner of its own."""
    yield
    services.runner.clear()
    services.store.clear()
    st.cache_data.clear()


def hostile_benchmark(name: str = HOSTILE) -> Benchmark:
    made = Benchmark.create(name=name, description=HOSTILE, version=HOSTILE[:50])
    made.add_question(
        HOSTILE, HOSTILE, answer_template=TEMPLATE, keywords=[HOSTILE, "a" + HOSTILE], author={"name": HOSTILE}
    )
    made.add_question("Second " + HOSTILE, HOSTILE, question_id=HOSTILE)
    made.set_global_rubric(
        Rubric(
            name=HOSTILE,
            traits=[
                RubricTrait(name=HOSTILE, description=HOSTILE, kind="score"),
                RubricTrait(name="L" + HOSTILE, kind="literal", classes={HOSTILE: HOSTILE, "b": HOSTILE}),
                ManualRubricTrait(name="M" + HOSTILE, description=HOSTILE, pattern="a"),
                MetricRubricTrait(name="T" + HOSTILE, metrics=["precision"], tp_instructions=[HOSTILE]),
            ],
        )
    )
    return made


def hostile_run(benchmark: Benchmark, benchmark_id: str) -> str:
    [first, second] = benchmark.get_question_ids()
    answerer = ModelConfig(id=HOSTILE, interface="manual", manual_traces={first: HOSTILE, second: HOSTILE})
    judge = ModelConfig(id="judge" + HOSTILE, interface="recorded", model_name="nothing/here")
    config = VerificationConfig(answering_models=[answerer], parsing_models=[judge])
    run_id = services.store().runs.create(wanted(benchmark, config), name=HOSTILE, benchmark_id=benchmark_id)
    results = []
    for question_id in (first, second):
        result = full_result(question_id, HOSTILE, answering=answerer.id, parsing=judge.id)
        result.question.question = HOSTILE
        result.rubric.scores |= {HOSTILE: 3}
        result.rubric.reasons[HOSTILE] = HOSTILE
        result.rubric.labels["L" + HOSTILE] = HOSTILE
        result.rubric.errors["E" + HOSTILE] = HOSTILE
        result.rubric.regex["M" + HOSTILE] = True
        result.rubric.metrics["T" + HOSTILE] = {"precision": 1.0, "recall": 0.5}
        result.rubric.confusion["T" + HOSTILE] = result.rubric.confusion["Organs"]
        result.warnings.append(HOSTILE)
        assert result.template is not None
        rule: dict[str, Any] = {"type": "ExactMatch"}
        evidence = FieldEvidence(
            name=HOSTILE, expected=HOSTILE, extracted=[HOSTILE, {HOSTILE: HOSTILE}], result=False, rule=rule
        )
        result.template.fields.append(evidence)
        results.append(result)
    services.store().results.save(run_id, results)
    return run_id


def elements(block: Any) -> Iterator[Any]:
    for child in block.children.values():
        if hasattr(child, "children"):
            yield child
            yield from elements(child)
        else:
            yield child


def sent(app: AppTest) -> Iterator[tuple[str, str]]:
    """Yield every text a page sends, with where it stands."""
    assert not app.exception, app.exception[0].message
    for root in app._tree.children.values():
        for element in elements(root):
            if element.proto is not None:
                yield from texts(element.proto, type(element.proto).__name__)


def texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    match value:
        case Message():
            for field, inside in value.ListFields():
                if (type(value).__name__, field.name) not in EDITED and field.name not in IDENTITIES:
                    yield from texts(inside, f"{place}.{field.name}")
        case str() if place in JSON:
            yield from texts(json.loads(value), place)
        case str():
            yield place, value
        case bytes():
            for column in pa.ipc.open_stream(value).read_all().to_pydict().items():
                yield from texts(column, place)
        case Mapping():
            for key, inside in value.items():
                yield place, str(key)
                if key not in UNSHOWN:
                    yield from texts(inside, f"{place}.{key}"[:80])
        case Sequence():
            for inside in value:
                yield from texts(inside, place)


def assert_visible(app: AppTest, *, named: bool = True) -> None:
    found, shown = set(), False
    for place, text in sent(app):
        shown = shown or "gpj" in text
        if any(character in text for character in INVISIBLE):
            found.add(f"{place}: {text[:150]!r}")
    assert not found, "\n".join(sorted(found))
    assert shown or not named, "the page shows none of the hostile names"


def opened(page: str, **link: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    for name, value in link.items():
        app.query_params[name] = value
    return app.switch_page(page).run() if page != frame.HOME else app.run()


@pytest.fixture
def link() -> dict[str, str]:
    """Store the hostile benchmark and its run; return the link to them."""
    benchmark = hostile_benchmark()
    benchmark_id = services.store().benchmarks.save(benchmark)
    services.store().benchmarks.save(hostile_benchmark("Second " + HOSTILE))
    return {"benchmark": benchmark_id, "run": hostile_run(benchmark, benchmark_id)}


@pytest.mark.parametrize("page", [page for page in PAGES if page != frame.SETTINGS])
def test_no_name_reaches_a_page_with_characters_nobody_sees(page: str, link: dict[str, str]) -> None:
    assert_visible(opened(page, **link))


@pytest.mark.parametrize("view", charts.VIEWS)
def test_no_figure_and_no_table_behind_it_shows_them(view: str, link: dict[str, str]) -> None:
    app = opened(frame.RESULTS, view=view, **link)
    for name in charts.VIEWS[view]:
        app.session_state[f"numbers_{name}"] = True
    app = app.run()
    tables = [table.proto.alt for table in app.dataframe]
    assert [alt for alt in tables if alt.startswith("Data of")], tables
    assert_visible(app)


@pytest.mark.parametrize("look", ["triage", "rules"])
def test_no_way_to_look_at_answers_shows_them(look: str, link: dict[str, str]) -> None:
    assert_visible(opened(frame.ANSWER, look=look, **link))


def test_no_tool_of_an_answer_shows_them(link: dict[str, str]) -> None:
    app = opened(frame.ANSWER, **link)
    for item in app.expander:
        app.session_state[item.proto.id.split("-", 2)[-1]] = True
    assert_visible(app.run())


def test_a_question_and_its_rubric_show_them_escaped(link: dict[str, str]) -> None:
    benchmark = services.store().benchmarks.load(link["benchmark"])
    [first, second] = benchmark.get_question_ids()
    for question_id in (first, second):
        assert_visible(opened(frame.QUESTIONS, benchmark=link["benchmark"], q=question_id))
        assert_visible(opened(frame.RUBRICS, benchmark=link["benchmark"], scope="question", q=question_id))


def test_a_file_with_such_names_is_reported_added_duplicated_and_deleted_in_visible_words() -> None:
    app = opened(frame.BENCHMARKS)
    data = hostile_benchmark().to_json().replace('"version"', '"unheard-of\\u202e"', 1).encode()
    app = app.file_uploader[0].upload(f"{HOSTILE}.jsonld".replace("/", ""), data).run()
    assert_visible(app)
    app = app.button(key="upload_add").click().run()
    assert_visible(app)
    for act in ("duplicate", "delete"):
        app = app.menu_button(key="benchmark_more").set_value(act).run()
        assert_visible(app)


CHOOSE = {
    frame.QUESTIONS: ("benchmark", "q"),
    frame.RUBRICS: ("benchmark", "q"),
    frame.RESULTS: ("run",),
    frame.ANSWER: ("run", "row"),
    frame.MONITOR: ("run",),
}
"""By page what its link chooses; a wrong one of these keeps the page from reading the rest."""

NARROW = ("view", "look", "scope", "show", "model", "search", "verdict")


@pytest.mark.parametrize("value", [HOSTILE, "../../etc/passwd", "' OR 1=1 --", "x" * 5_000, ""])
def test_a_link_made_by_somebody_else_is_harmless(value: str, link: dict[str, str]) -> None:
    for page, names in CHOOSE.items():
        for name in names:
            assert_visible(opened(page, **{**link, name: value}), named=False)  # such a link shows nothing else
        assert_visible(opened(page, **link, **dict.fromkeys(NARROW, value)))

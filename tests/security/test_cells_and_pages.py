"""Foreign text where it leaves the workbench: table cells, pages, and paths of workspaces."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from karenina_core.benchmark import Benchmark, check_relative, load_checkpoint
from karenina_core.errors import InputError
from karenina_core.runs import wanted
from karenina_core.schemas import ModelConfig, RubricTrait, VerificationConfig
from karenina_core.templates import Sandbox
from pages.components import services
from pages.components.text import input_label, plain, rendered, short, visible
from tests.security.road import DECLARATIVE, file_of, own_code, script, travel

ROOT = Path(__file__).parents[2]
FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3+cmd", "@SUM(A1)", "\t=1", "\r=1", "  =1", "＝1+1", "﹢1+x", "\u200b=1",
            "\u202e=1", "=HYPERLINK(\"http://127.0.0.1\")", "-1+1|x", "\x1b=1"]  # fmt: skip


def cells(text: str) -> Iterator[str]:
    for row in csv.reader(io.StringIO(text, newline="")):
        yield from row


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_in_question_answer_and_extraction_is_text_in_every_table(formula: str, tmp_path: Path) -> None:
    arrival = travel(
        file_of(question=formula), tmp_path, script(answer=f"{formula} BCL2", parse={"target": f"{formula}BCL2"})
    )
    for table in (arrival.csv, arrival.benchmark.to_csv()):
        starts = [cell for cell in cells(table) if cell[:1] in tuple("=+-@＝﹢\t\r\u200b\u202e\x1b ") and cell != ""]
        assert [cell for cell in starts if not cell.replace(".", "").lstrip("+-").isdigit()] == []


@pytest.mark.parametrize("cell", ["-3.5", "+1", "1e-5", "-12%", "a=b"])
def test_plain_cells_are_unchanged_in_the_export(cell: str, tmp_path: Path) -> None:
    arrival = travel(file_of(question=f"{cell}"), tmp_path)
    assert cell in list(cells(arrival.csv))


BAIT = '![x](http://127.0.0.1:9/x.png) <script>alert(1)</script> <img src="http://127.0.0.1:9/y">'
INVISIBLE = {"\u202e", "\u2066", "\x07", "\U000e0041"}
NOTHING = ":small{}"  # shows as nothing, and keeps what stands around it from being read as an address
BIDI = "\u202egpj\u2066 \x07\U000e0041"


@pytest.mark.parametrize(
    "text", [BAIT, "[a](javascript:alert(1))", "$$x$$ :material/check: **b** `c` ~d~ <b>", "a\n\n# b"]
)
def test_plain_text_is_shown_character_for_character(text: str) -> None:
    shown = plain(text).replace(NOTHING, "")
    assert re.search(r"(?<!\\)[!<\[`*$:#]", shown) is None
    assert shown.replace("\\", "") == text.replace("\\", "")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("see https://a.example/x", ["see http", "s://a.example/x"]),
        ("HTTP://A.EXAMPLE", ["HTTP", "://A.EXAMPLE"]),
        ("www.a.example", ["www", ".a.example"]),
        ("b.c+d@a.example", ["b.c+d", "@a.example"]),
        ("pass@3, https and www", ["pass@3, https and www"]),
    ],
)
def test_an_element_without_content_stands_within_every_address(text: str, parts: list[str]) -> None:
    assert [part.replace("\\", "") for part in plain(text).split(NOTHING)] == parts


@pytest.mark.parametrize(
    "text", [BAIT, "[a](javascript:alert(1))", "$x$ :material/check: **b** `c` ~d~ <b> :red[e] _f_ &amp; g->h--i>=j"]
)
def test_the_label_of_an_input_is_shown_character_for_character(text: str) -> None:
    shown = input_label(text, 200)
    marks = r"[<\[`*$~]|:(?=\w)|&(?=\w)|(?<=\s)_|->|--|>="
    assert re.search(marks, re.sub(r"\\.", "", shown)) is None
    assert shown.replace("\\", "").replace("\u2060", "") == text


@pytest.mark.parametrize("text", ["pair_count", "gpt-4.1 (mini), 50 %", "Is it so? Yes: 3.5 mg/L!", "a_b / c#1 & d"])
def test_the_label_of_an_input_is_read_out_as_it_is_written(text: str) -> None:
    assert input_label(text) == text


def test_no_address_in_the_label_of_an_input_becomes_a_link() -> None:
    for text in ("https://a.example/x", "www.a.example", "b@a.example"):
        shown = input_label(text)
        assert shown != text
        assert shown.replace("\u2060", "") == text
        assert len(shown) == len(text) + 1


def test_rendered_text_holds_no_image() -> None:
    for text in (
        BAIT,
        "![x][r]\n\n[r]: http://127.0.0.1:9/x",
        "[![x](http://127.0.0.1:9/x)](http://127.0.0.1:9)",
        "!![",
    ):
        assert "![" not in rendered(text)


@pytest.mark.parametrize("show", [input_label, plain, rendered, short, visible])
def test_invisible_characters_are_made_visible(show: Any) -> None:
    shown = show(BIDI).replace("\\\\", "\\")
    assert not INVISIBLE & set(shown)
    assert "u202e" in shown and "ue0041" in shown


@pytest.fixture(autouse=True)
def fresh_services() -> Iterator[None]:
    """Let every test have a store and a runner of its own."""
    yield
    services.runner.clear()
    services.store.clear()
    st.cache_data.clear()


def page(name: str, **link: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    for key, value in link.items():
        app.query_params[key] = value
    return app.switch_page(f"pages/{name}.py").run()


def said(app: AppTest) -> list[str]:
    """Return every text of a page that is rendered as Markdown."""
    assert not app.exception, app.exception[0].message
    kinds = [*app.markdown, *app.caption, *app.info, *app.warning, *app.error, *app.subheader, *app.header, *app.title]
    labels = [widget.label for widget in [*app.button, *app.checkbox, *app.toggle, *app.text_area, *app.text_input]]
    return [str(element.value) for element in kinds] + [*labels, *(item.label for item in app.expander)]


def assert_harmless(app: AppTest) -> None:
    for text in said(app):
        assert "![" not in text, text  # markup is never allowed, so only an image could be fetched
        assert not INVISIBLE & set(text), text


HOSTILE = {
    "empty": b"",
    "truncated": b'{"@type": ',
    "ten million brackets": b"[" * 10_000_000,
    "five thousand deep": b"[" * 5_000 + b"]" * 5_000,
    "a surrogate": b'{"name": "\\ud800"}',
    "UTF-16": '{"name": "x"}'.encode("utf-16"),
    "a zip": b"PK\x03\x04rest",
    "NaN": b'{"name": NaN}',
    "a list": b"[]",
}


def test_every_hostile_file_leaves_the_upload_page_up_and_explained() -> None:
    app = page("benchmarks")
    for name, data in HOSTILE.items():
        app = app.file_uploader[0].upload(f"{name}.json", data).run()
        assert not app.exception, name
        assert app.error, name
        assert "upload_add" not in [button.key for button in app.button], name


def hostile_benchmark() -> Benchmark:
    document = json.loads(file_of(own_code("return open('/etc/passwd')"), question=BAIT + BIDI))
    document["name"], document["version"], document["description"] = BAIT, BAIT, BAIT + BIDI
    document["dataFeedElement"][0]["item"]["acceptedAnswer"]["text"] = BAIT
    document["dataFeedElement"][0]["keywords"] = [BAIT]
    benchmark, _ = load_checkpoint(json.dumps(document).encode())
    benchmark.add_global_rubric_trait(RubricTrait(name=BAIT, description=BAIT, kind="binary"))
    return benchmark


def test_uploading_checking_and_browsing_a_hostile_benchmark_shows_text_and_runs_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def started(*_: object) -> None:
        pytest.fail("a sandbox was started")

    monkeypatch.setattr(Sandbox, "_start", started)
    monkeypatch.setattr(Sandbox, "run", started)
    app = page("benchmarks")
    app = app.file_uploader[0].upload("![x](http:x).jsonld", hostile_benchmark().to_json().encode()).run()
    assert_harmless(app)
    assert_harmless(app.button(key="upload_add").click().run())
    for name in ("benchmarks", "questions", "rubrics", "configure", "home", "settings"):
        assert_harmless(page(name))


def test_results_of_a_hostile_benchmark_and_model_are_shown_as_text() -> None:
    benchmark = hostile_benchmark()
    [question_id] = benchmark.get_question_ids()
    benchmark.add_answer_template(question_id, DECLARATIVE)
    answerer = ModelConfig(id=BAIT, interface="manual", manual_traces={question_id: BAIT + BIDI})
    judge = ModelConfig(id="judge" + BAIT, interface="recorded", model_name="nothing/here")
    config = VerificationConfig(answering_models=[answerer], parsing_models=[judge])
    from tests.runs.fakes import full_result

    store = services.store()
    run_id = store.runs.create(wanted(benchmark, config), name=BAIT + BIDI)
    result = full_result(question_id, BAIT + BIDI, answering=answerer.id, parsing=judge.id)
    result.rubric.scores[BAIT] = 3
    result.rubric.reasons[BAIT] = BAIT
    result.rubric.errors[BAIT + "2"] = BAIT
    result.rubric.metrics[BAIT] = {"precision": 1.0}
    result.rubric.confusion[BAIT] = result.rubric.confusion["Organs"]
    result.warnings.append(BAIT)
    store.results.save(run_id, [result])
    for name in ("results", "answer", "monitor"):
        assert_harmless(page(name, run=run_id))


UNSAFE = ["../x", "/etc", "a/../../b", "~", "~root", "C:\\x", "..\\x", "", "a\0b", "x" * 300, "CON", "con.txt", "a:b",
          "task ", " task", "task.", ".", "..", "a//b", "a/./b", "nul", "COM1", "a|b", "a*", "a\nb",
          "//server/share"]  # fmt: skip


@pytest.mark.parametrize("path", UNSAFE)
def test_an_unsafe_workspace_path_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        check_relative(path)
    benchmark, _ = load_checkpoint(file_of(workspace_path=path))
    [question_id] = benchmark.get_question_ids()
    benchmark.set_workspace_root(tmp_path)
    if path:
        with pytest.raises(InputError):
            benchmark.resolve_workspace(question_id)


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX systems")
def test_a_workspace_through_a_link_a_file_or_nothing_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "real").mkdir(parents=True)
    (root / "link").symlink_to(tmp_path)
    (root / "file").write_text("x")
    for path in ("link", "link/root", "file", "missing", "real/missing"):
        benchmark, _ = load_checkpoint(file_of(workspace_path=path))
        benchmark.set_workspace_root(root)
        with pytest.raises(InputError):
            benchmark.resolve_workspace(benchmark.get_question_ids()[0])

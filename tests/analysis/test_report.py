"""Reports of runs, and what no text in them can do."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.analysis import ReportOptions, as_html, as_latex, as_markdown, report_of_runs
from karenina_core.analysis.report.build import Report, build_part
from karenina_core.demo import demo_benchmark, demo_config
from karenina_core.runs import Store
from karenina_core.schemas import Annotation, AnswerPart, VerificationConfig
from tests.analysis.conftest import make_result

HOSTILE = '</script><img src=x onerror="alert(1)"> [link](https://evil.example) \\input{/etc/passwd} =1+1 \u202e'
STATIC = ReportOptions(charts=False)


class Elements(HTMLParser):
    """Every element and its attributes, and the text outside of scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def elements(page: bytes) -> Elements:
    parser = Elements()
    parser.feed(page.decode())
    return parser


def report(results, options=STATIC, **parts) -> Report:
    return Report("A title", "Ann", "2026-01-02T03:04:05+00:00", (build_part("Run 1", results, options, **parts),))


PLAIN = report([make_result()], ReportOptions(answers="all", charts=False))


def test_the_outcome_stands_on_top(run):
    page = elements(as_html(report(run("++-0"))))
    assert "Sample A: 2 of 3 right (67 %, 95 % interval" in page.text
    assert "1 not evaluated" in page.text


def test_every_table_of_the_run_is_there(mixed_run):
    (part,) = report(mixed_run).parts
    assert [grid.title for grid in part["grids"]] == [
        "By model",
        "By keyword",
        "By question, the hardest first",
        "By template field, the worst first",
        "Rubric traits",
        "Classes",
        "Metric traits",
        "Replies of models and judges",
    ]


def test_without_figures_there_is_no_script(mixed_run):
    page = as_html(report(mixed_run))
    assert "script" not in {tag for tag, _ in elements(page).found}
    assert "script-src" not in page.decode()
    assert len(page) < 100_000


def test_scripts_are_named_by_their_hash_and_nothing_is_loaded(mixed_run):
    page = as_html(report(mixed_run, ReportOptions())).decode()
    policy = next(
        attributes["content"]
        for tag, attributes in elements(page[:2000].encode()).found
        if tag == "meta" and "content" in attributes
    )
    assert policy.startswith("default-src 'none'")
    assert policy.count("'sha256-") == 2
    assert not re.search(r"<(?:link|iframe|img|script)[^>]+(?:src|href)=", page.replace("\\u003c", ""))
    data = re.search(r'<script type="application/json" id="figures">(.*?)</script>', page, re.DOTALL)
    assert len(json.loads(data.group(1))) >= 5


def test_foreign_text_shows_as_it_is(result):
    hostile = result(HOSTILE, model=HOSTILE, answer=AnswerPart(text=HOSTILE))
    page = elements(as_html(report([hostile], ReportOptions(answers="all"), config=None)))
    assert not [tag for tag, attributes in page.found if tag == "img" or "onerror" in attributes]
    assert 'onerror="alert(1)"' in page.text
    assert "\u202e" not in page.text


@settings(deadline=None, max_examples=30)
@given(text=st.text(st.characters(codec="utf-8"), min_size=1, max_size=30))
def test_any_text_leaves_the_structure_alone(text):
    (part,) = PLAIN.parts
    changed = {
        **part,
        "name": text,
        "remarks": [text],
        "answers": [{**part["answers"][0], "response": text, "who": text}],
    }
    pages = [elements(as_html(each)) for each in (PLAIN, replace(PLAIN, parts=(changed,)))]
    assert [tag for tag, _ in pages[0].found] == [tag for tag, _ in pages[1].found]


def test_a_report_without_answers_holds_none(result):
    secret = result(answer=AnswerPart(text="a sensitive answer"), verdict="fail")
    page = as_html(report([secret], ReportOptions(answers="none", charts=False))).decode()
    assert "a sensitive answer" not in page and "without the texts of answers" in page


def test_only_what_did_not_pass_is_shown_unless_asked(run):
    results = run("+-0")
    shown = {name: report(results, ReportOptions(answers=name, charts=False)).parts[0] for name in ("failures", "all")}
    assert [answer["result"].verdict for answer in shown["failures"]["answers"]] == ["fail", "not_evaluated"]
    assert len(shown["all"]["answers"]) == 3


def test_long_reports_say_what_they_leave_out(run):
    (part,) = report(run("-" * 250)).parts
    assert len(part["answers"]) == 200
    assert (
        part["answers_note"] == "The first 200 of 250 evaluations that did not pass; the data exports hold all of them."
    )


def test_reviews_stand_beside_the_verdict(result):
    failed = result(verdict="fail")
    said = {"run_id": "r1", "result_id": failed.result_id, "agrees": False, "author": "Ann"}
    reviews = [Annotation(**said, cause="rule_too_strict", note="case only"), Annotation(**said, undone=True)]
    (answer,) = report([failed], annotations=reviews).parts[0]["answers"]
    assert answer["verdict"] == "✗ wrong"
    (review,) = answer["reviews"]
    assert review.startswith("Ann disagrees · The rule is too strict · case only")


def test_the_time_of_a_review_is_told_in_utc(result):
    failed = result(verdict="fail")
    review = Annotation(run_id="r1", result_id=failed.result_id, agrees=False, at="2026-03-01T23:30:00+09:00")
    (answer,) = report([failed], annotations=[review]).parts[0]["answers"]
    assert answer["reviews"][0].endswith("2026-03-01 14:30 UTC")


def test_a_field_that_waits_for_the_embedding_check_is_not_called_unfound(result, field):
    waiting = field(passed=None, extracted="a protein", rule={"type": "SemanticMatch", "threshold": 0.8})
    (answer,) = report([result(verdict="fail", fields=[waiting])]).parts[0]["answers"]
    assert answer["fields"].rows[0][-1] == "– not decided: the embedding check was off"


def test_the_configuration_holds_no_key(run, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789abcdef")
    config = VerificationConfig(answering_models=["openai/a"], parsing_models=["openai/sk-secret-0123456789abcdef"])
    whole = report(run("+"), config=config)
    for written in (as_html(whole).decode(), as_markdown(whole), as_latex(whole)):
        assert "sk-secret" not in written
    assert "openai/a" in as_html(whole).decode()


def test_a_key_with_signs_that_are_escaped_or_cut_is_hidden_everywhere(run, monkeypatch):
    key = "sk-proj-abcdefghijklmnopqrstuv_12345"
    secret = "my_secret-key_value-1-that-is-much-longer-than-a-label"
    monkeypatch.setenv("SOME_API_KEY", secret)
    for text in (key, secret):
        whole = report(run("+-", model=text), ReportOptions())
        for written in (as_html(whole).decode(), as_markdown(whole), as_latex(whole)):
            assert text[:20] not in written.replace("\\", "")


def test_markdown_is_readable_and_links_nowhere(result):
    text = as_markdown(report([result(HOSTILE, model="a|b")]))
    assert text.startswith("# A title\n")
    assert "| a\\|b | judge |" in text
    assert not re.search(r"(?<!\\)[\[<]", text)


def test_latex_is_escaped(result):
    text = as_latex(report([result(HOSTILE, model="a_b & 100 %")]))
    assert r"a\_b \& 100 \%" in text
    assert r"\input{" not in text
    assert r"\toprule" in text


def test_long_texts_break_their_lines_in_latex(result):
    text = as_latex(report([result("Why? " * 30)]))
    assert r"\begin{tabular}{p{0.70\linewidth}lll}" in text


def test_a_stored_run_brings_what_is_needed_to_run_it_again(tmp_path):
    with Store.open(tmp_path / "s.db") as store:
        run_id = demo_benchmark().run_verification(demo_config(), store=store).run_id
        whole = report_of_runs(store, [run_id], STATIC, title="Demo", author="Ann")
        (part,) = whole.parts
        facts = dict(part["facts"])
        assert ["demo/concise" in each for each in whole.comparisons] == [True, False]
        assert facts["Benchmark SHA-256"] == store.runs.get(run_id).snapshot
        assert part["templates"] and "class Answer" in part["templates"][0][2]
        assert '"answering_models"' in part["config"]
        assert b"Demo" in as_html(whole)


def test_an_empty_run_says_so():
    (part,) = report([]).parts
    assert part["sentences"] == ["No results yet."]
    assert as_html(report([])) and as_markdown(report([])) and as_latex(report([]))

"""The cells of one evaluation: prompt, answer, judge, extraction, verdict, rubric, review.

Every cell says what goes in, what comes out, where that comes from, and what it cost. A page may add its tools to a
cell; without any, the cells only show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import streamlit as st

from karenina_core.schemas import CallRecord, GuardPart, Usage, VerificationResult, in_words
from karenina_core.text import counted
from pages.components import frame, services
from pages.components.answer import evidence as answer_evidence
from pages.components.answer import review as answer_review
from pages.components.answer import rubric as answer_rubric
from pages.components.answer import verdict as answer_verdict
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.text import plain, short, visible, visible_data

CellName = Literal["prompt", "answer", "judge", "extraction", "verdict", "rubric", "review"]
Tools = Mapping[CellName, Callable[[], None]]

_TITLES: dict[CellName, str] = {
    "prompt": "Prompt",
    "answer": "Answer",
    "judge": "Judge",
    "extraction": "Extraction",
    "verdict": "Verdict",
    "rubric": "Rubric",
    "review": "Review",
}
_VERDICTS = {
    "pass": ":green-badge[:material/check: pass]",
    "fail": ":red-badge[:material/close: fail]",
    "not_evaluated": ":gray-badge[:material/remove: not evaluated]",
}
_SOURCES = {
    "provider": "model call",
    "ledger": "an earlier call with the same text",
    "recording": "a recording",
    "manual": "prepared answer",
    "local": "model on this computer",
    "person": "a person, on this page",
}
_CODE = "code: the same values always give the same outcome"


def verdict_line(result: VerificationResult) -> None:
    """Show verdict, models and, where there is no verdict, the reason."""
    parts = [_VERDICTS[result.verdict], f"answered by **{plain(result.answering_model)}**"]
    parts.append(f"judged by **{plain(result.parsing_model)}**")
    if result.replicate > 1:
        parts.append(f"repeat {result.replicate}")
    st.markdown(" · ".join(parts))
    if result.failure:
        words = in_words(result.failure.category)
        line = f" (line {result.failure.line} of the template)" if result.failure.line else ""
        st.warning(
            f"{plain(result.failure.reason)}{line}",
            title=f"{words[:1].upper()}{words[1:]} (stage “{result.failure.stage.replace('_', ' ')}”)",
        )
    for warning in result.warnings:
        st.caption(f":material/info: {plain(warning)}")


def show(
    run_id: str, result: VerificationResult, key: str, tools: Tools | None = None, *, by_hand: bool = False
) -> None:
    """Draw all cells.

    Args:
        run_id: The run of the result.
        result: What to show.
        key: Goes before the keys of widgets, so that two columns of cells can be on one page.
        tools: Drawn inside a cell, below what it shows.
        by_hand: Whether the values were typed by a person instead of extracted.
    """
    given = tools or {}
    _prompt(result, given)
    _answer(result, key, given)
    _judge(result, key, given)
    _extraction(result, given, by_hand)
    _verdict(result, given)
    _rubric(result, key, given)
    with _cell("review", "this result", "what people say about it", "people; the machine's verdict stays"):
        answer_review.history(run_id, result)
        _offer("review", given)
    _stages(result)


def _cell(name: CellName, goes_in: str, comes_out: str, origin: str, cost: str = "nothing") -> Any:
    cell = st.container(border=True)
    cell.markdown(f"**{list(_TITLES).index(name) + 1} · {_TITLES[name]}**")
    cell.caption(f"In: {goes_in} · Out: {comes_out} · From: {origin} · Cost: {cost}")
    return cell


def _offer(name: CellName, tools: Tools) -> None:
    if name in tools:
        tools[name]()


def _origin(call: CallRecord | None) -> str:
    if call is None:
        return "nowhere: there was no call"
    written = call.provenance.get("kind") == "sample"
    origin = "sample text written by hand, no model's output" if written else _SOURCES.get(call.source, call.source)
    return f"{origin}, {plain(call.model)}" if call.model else origin


def _cost(usage: Usage, seconds: float) -> str:
    parts = ["nothing" if usage.cost == 0 else "not known" if usage.cost is None else f"\\${usage.cost:.5f}"]
    if usage.input_tokens:
        parts.append(f"{usage.input_tokens:,} + {usage.output_tokens or 0:,} tokens")
    if seconds >= 0.01:
        parts.append(f"{seconds:.2f} s")
    return ", ".join(parts)


def _cost_of(calls: list[CallRecord]) -> str:
    if not calls or all(call.source in ("recording", "manual", "person") for call in calls):
        return "nothing"
    total = sum((call.usage for call in calls), Usage())
    if not total.cost and any(call.usage.cost is None for call in calls):
        # Beside known replies, which cost nothing, some have a price that nobody knows.
        total = total.model_copy(update={"cost": None})
    return _cost(total, sum(call.seconds for call in calls))


def _messages(call: CallRecord) -> None:
    for message in call.messages:
        st.caption(plain(message["role"], 40))
        st.code(visible(message["content"]), language=None, wrap_lines=True)


def _prompt(result: VerificationResult, tools: Tools) -> None:
    call = result.answer.call if result.answer else None
    with _cell("prompt", "question, system prompt, few-shot examples", "messages", "code"):
        if call and call.messages:
            _messages(call)
        else:
            st.code(visible(result.question.question), language=None, wrap_lines=True)
        _offer("prompt", tools)


def _answer(result: VerificationResult, key: str, tools: Tools) -> None:
    answer = result.answer
    calls = [answer.call] if answer and answer.call else []
    origin = _origin(calls[0]) if calls else "a person, on this page" if answer else "nowhere: there is no answer"
    with _cell("answer", "the prompt", "a text", origin, _cost_of(calls)):
        if answer is None:
            st.caption("There is no answer.")
            if result.partial_answer:
                st.caption("The reply broke off. This had arrived; nothing judges it.")
                st.code(visible(result.partial_answer), language=None, wrap_lines=True)
        else:
            if answer.truncated:
                st.warning("The answer was cut off at the token limit.")
            answer_evidence.show(result, key)
            st.caption(f"Reference answer, never shown to a model: {plain(result.question.raw_answer, 500)}")
            facts = calls[0].provenance if calls else {}
            told = [
                f"{plain(name.replace('_', ' ').capitalize())}: {plain(value, 80)}"
                for name, value in facts.items()
                if isinstance(value, str | int | float)
            ]
            if told:
                st.caption(" · ".join(told))
        _offer("answer", tools)


def _judge(result: VerificationResult, key: str, tools: Tools) -> None:
    calls = result.template.calls if result.template else []
    guards = [part for part in (result.abstention, result.sufficiency) if part and part.call]
    paid = [*calls, *(part.call for part in guards if part.call)]
    origin = _origin(calls[-1]) if calls else "nowhere: no judge was asked to fill a template"
    with _cell("judge", "question, answer, schema; never the truth", "a reply", origin, _cost_of(paid)):
        _guard("Abstention check: does it decline to answer", result.abstention)
        _guard("Sufficiency check: does it say enough", result.sufficiency)
        if calls:
            st.code(visible(calls[-1].reply or ""), language=None, wrap_lines=True)
            with st.expander("Exactly what the judge saw", on_change="rerun", key=f"{key}_judge_view") as view:
                if view.open:
                    _messages(calls[-1])
                    st.caption("schema")
                    st.json(visible_data(calls[-1].schema_sent or {}), expanded=1)
                    for number, call in enumerate(calls[:-1], 1):
                        st.caption(f"reply {number}, which did not fit")
                        st.code(visible(call.reply or ""), language=None, wrap_lines=True)
        _offer("judge", tools)


def _guard(title: str, part: GuardPart | None) -> None:
    if part and part.performed:
        said = "not told" if part.detected is None else "yes" if part.detected else "no"
        st.markdown(f"**{title}?** {said}. {plain(part.reasoning)}")


def _extraction(result: VerificationResult, tools: Tools, by_hand: bool) -> None:
    values = (result.template.parsed if result.template else None) or {}
    origin = "a person, on this page" if by_hand else "code, which reads the judge's reply"
    with _cell("extraction", "the judge's reply", "values by field", origin):
        if values:
            answer_evidence.table(result)
        else:
            st.caption("No values were extracted.")
        _offer("extraction", tools)


def _verdict(result: VerificationResult, tools: Tools) -> None:
    with _cell("verdict", "values, truths and rules", "right or wrong", _CODE):
        answer_verdict.show(result)
        _offer("verdict", tools)


def _rubric(result: VerificationResult, key: str, tools: Tools) -> None:
    calls = result.rubric.calls
    origin = f"{_origin(calls[-1])}, and code" if calls else "code"
    with _cell("rubric", "the answer and the traits", "qualities; they change no verdict", origin, _cost_of(calls)):
        answer_rubric.show(result, key, _messages)
        _offer("rubric", tools)


def _stages(result: VerificationResult) -> None:
    rows = [
        {
            "Stage": f"{number} {stage.name.replace('_', ' ').capitalize()}",
            "State": stage.state,
            "Time": _time(stage.seconds) if stage.state == "ran" else "",
            "Note": short(stage.note, 2000),
        }
        for number, stage in enumerate(result.stages, 1)
    ]
    cached = f", {result.usage.cached_calls} of them known already" if result.usage.cached_calls else ""
    title = f"What the machine did: {counted(len(rows), 'stage')}, {counted(result.usage.calls, 'model call')}{cached}"
    with st.expander(title, icon=":material/settings:"):
        st.dataframe(rows, hide_index=True, alt="Stages of this evaluation", width="stretch")
        part = result.similarity
        if part and part.performed and part.similarity is not None:
            st.caption(f"Whole-answer similarity {part.similarity:.3f} (information only)")
        elif part:
            st.caption(f"Whole-answer similarity not computed: {plain(part.reason)}")


def _time(seconds: float) -> str:
    if seconds < 0.001:
        return "< 1 ms"
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def question_link(run_id: str, question_id: str) -> None:
    """Lead to the question, when the benchmark of the run still has it."""
    store = services.store()
    row = next((row for row in store.benchmarks.all() if row.id == store.runs.get(run_id).benchmark_id), None)
    if row is None or question_id not in benchmark_choice.reading(row.id, row.revision).get_question_ids():
        return
    if st.button("Open this question", icon=":material/quiz:", key="open_question", type="tertiary"):
        st.switch_page(frame.QUESTIONS, query_params={"benchmark": row.id, "q": question_id})

"""The cells of one evaluation: prompt, answer, judge, extraction, verdict, rubric, review.

Every cell says what goes in, what comes out, where that comes from, and what it cost. A page may add its tools to a
cell; without any, the cells only show.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import streamlit as st

from karenina_core.analysis import field_sign, waits, whose_fault
from karenina_core.authoring import relaxations
from karenina_core.schemas import (
    CallRecord,
    ConfusionPart,
    FieldEvidence,
    GuardPart,
    Usage,
    VerificationResult,
    failure_in_words,
    normalizer_of_step,
    rule_help,
    rule_title,
    step_title,
    title,
)
from karenina_core.text import counted
from pages.components import frame, services
from pages.components.answer import evidence as answer_evidence
from pages.components.answer import review as answer_review
from pages.components.answer import scratch as answer_scratch
from pages.components.text import plain, short, visible, visible_data

CellName = Literal["prompt", "answer", "judge", "extraction", "verdict", "rubric", "review"]
Tools = Mapping[CellName, Callable[[], None]]

_CELLS: tuple[CellName, ...] = get_args(CellName)
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
        words = failure_in_words(result.failure.category)
        line = f" (line {result.failure.line} of the template)" if result.failure.line else ""
        st.warning(
            f"{plain(result.failure.reason)}{line}",
            title=f"{words[:1].upper()}{words[1:]} (stage “{result.failure.stage.replace('_', ' ')}”)",
        )
    for warning in result.warnings:
        st.caption(f":material/info: {plain(warning)}")


def fault_line(run_id: str, result: VerificationResult) -> None:
    """Say whose fault a stored result without a pass is: what a person said, or what the evidence suggests."""
    with frame.guard():
        reviews = services.store().annotations.all(run_id, result.result_id)
        fault = whose_fault(result, reviews, lambda: answer_scratch.benchmark_of_today(run_id))
        if fault is None:
            return
        words = plain(fault.words, 400)
        if fault.who is None:
            st.markdown(f":orange-badge[:material/help: whose fault] {words}")
        else:
            st.markdown(f":green-badge[:material/person_check: reviewed] {plain(fault.who, 80)} says: {words}.")


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
    cell.markdown(f"**{_CELLS.index(name) + 1} · {name.capitalize()}**")
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


def _text(text: str) -> None:
    st.code(visible(text), language=None, wrap_lines=True)


def _messages(call: CallRecord) -> None:
    for message in call.messages:
        st.caption(plain(message["role"], 40))
        _text(message["content"])


def _prompt(result: VerificationResult, tools: Tools) -> None:
    call = result.answer.call if result.answer else None
    with _cell("prompt", "question, system prompt, few-shot examples", "messages", "code"):
        if call and call.messages:
            _messages(call)
        else:
            _text(result.question.question)
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
                _text(result.partial_answer)
        else:
            if answer.truncated:
                st.warning("The answer was cut off at the token limit.")
            answer_evidence.show(result, key)
            st.caption(f"Reference answer, never shown to a model: {plain(result.question.raw_answer, 500)}")
            facts = calls[0].provenance if calls else {}
            known = [
                f"{plain(name.replace('_', ' ').capitalize())}: {plain(value, 80)}"
                for name, value in facts.items()
                if isinstance(value, str | int | float)
            ]
            if known:
                st.caption(" · ".join(known))
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
            _text(calls[-1].reply or "")
            with st.expander("Exactly what the judge saw", on_change="rerun", key=f"{key}_judge_view") as view:
                if view.open:
                    _messages(calls[-1])
                    st.caption("schema")
                    st.json(visible_data(calls[-1].schema_sent or {}), expanded=1)
                    for number, call in enumerate(calls[:-1], 1):
                        st.caption(f"reply {number}, which did not fit")
                        _text(call.reply or "")
        _offer("judge", tools)


def _guard(question: str, part: GuardPart | None) -> None:
    if part and part.performed:
        found = {None: "not told", True: "yes", False: "no"}[part.detected]
        st.markdown(f"**{question}?** {found}. {plain(part.reasoning)}")


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
        _fields(result)
        _offer("verdict", tools)


def _fields(result: VerificationResult) -> None:
    """Show how the verdict came about, field by field: expected, extracted, rule, steps, result."""
    part = result.template
    if part is None:
        st.caption(_why_nothing(result))
        return
    if part.verify_granular_result is not None:
        st.markdown(_share(part.fields, part.verify_granular_result))
    if part.composition_strategy and part.composition_strategy != "all_of":
        st.caption(f"Fields are combined by {plain(part.composition_strategy)}.")
    if part.style != "declarative":
        st.caption("This template decides by its own code, run in a sandbox.")
    if not part.fields:
        st.caption("No field was decided.")
    for item in part.fields:
        _field(result, item)


def _why_nothing(result: VerificationResult) -> str:
    if result.failure is not None and result.failure.category != "no_template":
        return "Nothing was decided, because the evaluation ended before; the reason stands at the top."
    if result.status == "skipped" and result.answer is not None and result.failure is None:
        return "No judge has read this answer yet: let it judge again, or type what it would extract."
    return "The question has no answer template, so nothing is right or wrong."


def _share(fields: list[FieldEvidence], share: float) -> str:
    ruled = [item for item in fields if item.rule is not None]
    if not ruled or any(item.weight != 1 for item in ruled):
        return f"Weighted share of right fields: **{share:.2f}**"
    right = sum(item.result is True for item in ruled)
    return f"**{right} of {counted(len(ruled), 'field')} right**"


def _field(result: VerificationResult, item: FieldEvidence) -> None:
    with st.container(border=True):
        sign = field_sign(result, item)
        name = str(item.rule["type"]) if item.rule else ""
        rule = plain(rule_title(name)) if name else "the template's own code"
        st.markdown(f"**{plain(item.name)}** · {sign + ' · ' if sign else ''}{rule}", help=rule_help(name))
        left, right = st.columns(2)
        left.caption("Expected")
        expected = item.expected if isinstance(item.expected, str) else _json(item.expected)
        left.code(visible(expected), language=None, wrap_lines=True)
        right.caption("Found in the response" if item.is_trace else "Extracted by the judge")
        right.code(visible(answer_evidence.in_words(item.extracted)), language=None, wrap_lines=True)
        _steps(item)
        if item.reason and not waits(item):
            st.caption(plain(item.reason, 500))
        if item.similarity is not None:
            st.caption(f"Similarity {item.similarity:.3f}")
        relaxed = next(relaxations(item), None) if result.verdict == "fail" else None
        if relaxed is not None:
            st.markdown(
                ":orange-badge[:material/rule: near miss] The rule is probably too strict: to "
                f"{plain(relaxed.label)} would let this pass."
            )


def _steps(item: FieldEvidence) -> None:
    """Show what was done to the values, also what changed nothing."""
    lines = []
    for number, (label, before, after) in enumerate(item.steps, 1):
        done = "unchanged" if before == after else f"{plain(before, 200)} → {plain(after, 200)}"
        lines.append(f"{number}. {plain(step_title(label))}: {done}")
    if lines:
        names = dict.fromkeys(filter(None, (normalizer_of_step(label) for label, _, _ in item.steps)))
        code = "; ".join(f"{title(name)} is {name}" for name in names)
        st.caption("\n".join(lines), help=f"In the template: {code}." if code else None)


def _json(value: Any) -> str:
    return "decided by the rule" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _rubric(result: VerificationResult, key: str, tools: Tools) -> None:
    calls = result.rubric.calls
    origin = f"{_origin(calls[-1])}, and code" if calls else "code"
    with _cell("rubric", "the answer and the traits", "qualities; they change no verdict", origin, _cost_of(calls)):
        _traits(result, key)
        _offer("rubric", tools)


def _traits(result: VerificationResult, key: str) -> None:
    """Show all traits with their reasons, and what a metric trait counted."""
    part = result.rubric
    if not part.performed:
        st.caption("No rubric was evaluated.")
        return
    rows = _rows(result)
    if rows:
        st.dataframe(rows, hide_index=True, alt="Traits of this answer", width="stretch")
    for name, metrics in part.metrics.items():
        values = " · ".join(
            f"{metric} {value:.2f}" + (" (undefined)" if metric in part.confusion[name].undefined else "")
            for metric, value in metrics.items()
        )
        st.markdown(f"**{plain(name)}**: {values}")
        _confusion(part.confusion[name])
    if part.calls:
        with st.expander("What the judge saw, and what it replied", on_change="rerun", key=f"{key}_rubric") as view:
            if view.open:
                for call in part.calls:
                    _messages(call)
                    st.caption("reply")
                    _text(call.reply or "")


def _rows(result: VerificationResult) -> list[dict[str, str]]:
    part = result.rubric
    rows = [(name, _score(result, name), part.reasons.get(name, "")) for name in part.scores]
    rows += [(name, "✓ yes" if value else "✗ no", "pattern") for name, value in part.regex.items()]
    rows += [(name, "not evaluated", why) for name, why in part.errors.items()]
    return [{"Trait": short(name, 60), "Value": short(value, 60), "Why": short(why, 300)} for name, value, why in rows]


def _score(result: VerificationResult, name: str) -> str:
    value = result.rubric.scores[name]
    if name in result.rubric.labels:
        return result.rubric.labels[name]
    if isinstance(value, bool):
        return "✓ yes" if value else "✗ no"
    return str(value)


def _confusion(part: ConfusionPart) -> None:
    for sign, words, items, color in (
        ("✓", "found (TP)", part.tp, "green"),
        ("✗", "wrongly named (FP)", part.fp, "red"),
        ("!", "missed (FN)", part.fn, "orange"),
        ("✓", "rightly excluded (TN)", part.tn, "blue"),
        ("–", "not mentioned, not counted", part.not_mentioned, "gray"),
    ):
        if items:
            chips = " ".join(f":{color}-badge[{sign} {plain(item, 60)}]" for item in items)
            st.markdown(f"{words}: {chips}")


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

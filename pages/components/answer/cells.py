"""The cells of one evaluation: prompt, answer, judge, extraction, verdict, rubric, review.

Every cell says what goes in, what comes out, where that comes from, and what it cost. A page may add its tools to a
cell; without any, the cells only show.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
_READ, _BY_HAND = "code, which reads the judge's reply", "a person, on this page"
_NONE: Tools = {}


def verdict_line(result: VerificationResult) -> None:
    """Show verdict, models and, where there is no verdict, the reason."""
    repeat = f" · repeat {result.replicate}" if result.replicate > 1 else ""
    models = f"answered by **{plain(result.answering_model)}** · judged by **{plain(result.parsing_model)}**"
    st.markdown(f"{_VERDICTS[result.verdict]} · {models}{repeat}")
    failure = result.failure
    if failure:
        words, stage = failure_in_words(failure.category), failure.stage.replace("_", " ")
        line = f" (line {failure.line} of the template)" if failure.line else ""
        title = f"{words[:1].upper()}{words[1:]} (stage “{stage}”)"
        st.warning(f"{plain(failure.reason)}{line}", title=title)
    for warning in result.warnings:
        st.caption(f":material/info: {plain(warning)}")


def fault_line(run_id: str, result: VerificationResult) -> None:
    """Say whose fault a stored result without a pass is: what a person said, or what the evidence suggests."""
    with frame.guard():
        reviews = services.store().annotations.all(run_id, result.result_id)
        fault = whose_fault(result, reviews, lambda: answer_scratch.benchmark_of_today(run_id))
        if fault is not None and fault.who is None:
            st.markdown(f":orange-badge[:material/help: whose fault] {plain(fault.words, 400)}")
        elif fault is not None:
            words = f"{plain(fault.who, 80)} says: {plain(fault.words, 400)}."
            st.markdown(f":green-badge[:material/person_check: reviewed] {words}")


def show(run_id: str, result: VerificationResult, key: str, tools: Tools = _NONE, *, by_hand: bool = False) -> None:
    """Draw all cells.

    Args:
        run_id: The run of the result.
        result: What to show.
        key: Goes before the keys of widgets, so that two columns of cells can be on one page.
        tools: Drawn inside a cell, below what it shows.
        by_hand: Whether the values were typed by a person instead of extracted.
    """
    _prompt(result, tools)
    _answer(result, key, tools)
    _judge(result, key, tools)
    with _cell("extraction", tools, "the judge's reply", "values by field", _BY_HAND if by_hand else _READ):
        answer_evidence.table(result)
    with _cell("verdict", tools, "values, truths and rules", "right or wrong", _CODE):
        _fields(result)
    _rubric(result, key, tools)
    with _cell("review", tools, "this result", "what people say about it", "people; the machine's verdict stays"):
        answer_review.history(run_id, result)
    _stages(result)


@contextmanager
def _cell(
    name: CellName, tools: Tools, goes_in: str, comes_out: str, origin: str, cost: str = "nothing"
) -> Iterator[None]:
    with st.container(border=True):
        st.markdown(f"**{_CELLS.index(name) + 1} · {name.capitalize()}**")
        st.caption(f"In: {goes_in} · Out: {comes_out} · From: {origin} · Cost: {cost}")
        yield
        if name in tools:
            tools[name]()


def _origin(call: CallRecord | None) -> str:
    if call is None:
        return "nowhere: there was no call"
    written = call.provenance.get("kind") == "sample"
    origin = "sample text written by hand, no model's output" if written else _SOURCES.get(call.source, call.source)
    return f"{origin}, {plain(call.model)}" if call.model else origin


def _cost_of(calls: Sequence[CallRecord]) -> str:
    if all(call.source in ("recording", "manual", "person") for call in calls):
        return "nothing"
    used, seconds = sum((call.usage for call in calls), Usage()), sum(call.seconds for call in calls)
    # Beside known replies, which cost nothing, some may have a price that nobody knows.
    unknown = not used.cost and any(call.usage.cost is None for call in calls)
    parts = ["not known" if unknown else f"\\${used.cost:.5f}" if used.cost else "nothing"]
    if used.input_tokens:
        parts.append(f"{used.input_tokens:,} + {used.output_tokens or 0:,} tokens")
    if seconds >= 0.01:
        parts.append(f"{seconds:.2f} s")
    return ", ".join(parts)


def _text(text: str) -> None:
    st.code(visible(text), language=None, wrap_lines=True)


def _messages(call: CallRecord) -> None:
    for message in call.messages:
        st.caption(plain(message["role"], 40))
        wanted = [f"{call['name']} {call['arguments']}" for call in message.get("tool_calls", ())]
        _text("\n".join([*filter(None, [message["content"]]), *wanted]))


def _prompt(result: VerificationResult, tools: Tools) -> None:
    answer = result.answer
    call = [*answer.earlier_calls, answer.call][0] if answer else None
    with _cell("prompt", tools, "question, system prompt, few-shot examples", "messages", "code"):
        if call and call.messages:
            _messages(call)
        else:
            _text(result.question.question)


def _answer(result: VerificationResult, key: str, tools: Tools) -> None:
    answer = result.answer
    calls = [*answer.earlier_calls, answer.call] if answer and answer.call else []
    origin = _origin(calls[0]) if calls else _BY_HAND if answer else "nowhere: there is no answer"
    with _cell("answer", tools, "the prompt", "a text", origin, _cost_of(calls)):
        if answer is None:
            st.caption("There is no answer.")
            if result.partial_answer:
                st.caption("The reply broke off. This had arrived; nothing judges it.")
                _text(result.partial_answer)
            return
        if answer.truncated:
            st.warning("The answer was cut off at the token limit.")
        if answer.limit:
            st.warning(f"The agent was stopped at its limit of {plain(answer.limit)}.")
        answer_evidence.show(result, key)
        if answer.transcript:
            _calls(f"What the agent did, in {counted(len(calls), 'turn')}", calls[-1:], f"{key}_agent")
        for item in answer.files:
            with st.expander(
                f"{plain(item.path, 80)}: {item.change}, {item.bytes:,} bytes", icon=":material/description:"
            ):
                _text(item.text or "It is no text, too long to be kept, or removed.")
        st.caption(f"Reference answer, never shown to a model: {plain(result.question.raw_answer, 500)}")
        known = [
            f"{plain(name.replace('_', ' ').capitalize())}: {plain(value, 80)}"
            for name, value in (calls[0].provenance if calls else {}).items()
            if isinstance(value, str | int | float)
        ]
        if known:
            st.caption(" · ".join(known))


def _judge(result: VerificationResult, key: str, tools: Tools) -> None:
    calls = result.template.calls if result.template else []
    guards = [part.call for part in (result.abstention, result.sufficiency) if part and part.call]
    origin = _origin(calls[-1]) if calls else "nowhere: no judge was asked to fill a template"
    cost = _cost_of([*calls, *guards])
    with _cell("judge", tools, "question, answer, schema; never the truth", "a reply", origin, cost):
        _guard("Abstention check: does it decline to answer", result.abstention)
        _guard("Sufficiency check: does it say enough", result.sufficiency)
        if calls:
            _text(calls[-1].reply or "")
            _calls("Exactly what the judge saw", calls, f"{key}_judge_view")


def _calls(label: str, calls: Sequence[CallRecord], key: str) -> None:
    """Show what was sent and what came back; drawn only while it is open."""
    with st.expander(label, on_change="rerun", key=key) as view:
        for call in calls if view.open else ():
            _messages(call)
            if call.schema_sent:
                st.caption("schema")
                st.json(visible_data(call.schema_sent), expanded=1)
            st.caption("reply")
            _text(call.reply or "")


def _guard(question: str, part: GuardPart | None) -> None:
    if part and part.performed:
        found = {None: "not told", True: "yes", False: "no"}[part.detected]
        st.markdown(f"**{question}?** {found}. {plain(part.reasoning)}")


def _fields(result: VerificationResult) -> None:
    """Show how the verdict came about, field by field: expected, extracted, rule, steps, result."""
    part = result.template
    if part is None:
        st.caption(_why_nothing(result))
        return
    if part.verify_granular_result is not None:
        st.markdown(_share(part.fields, part.verify_granular_result))
    if part.composition_strategy not in (None, "", "all_of"):
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
    return f"**{sum(item.result is True for item in ruled)} of {counted(len(ruled), 'field')} right**"


def _field(result: VerificationResult, item: FieldEvidence) -> None:
    with st.container(border=True):
        sign, name = field_sign(result, item), str(item.rule["type"]) if item.rule else ""
        rule = plain(rule_title(name)) if name else "the template's own code"
        st.markdown(" · ".join(filter(None, [f"**{plain(item.name)}**", sign, rule])), help=rule_help(name))
        expected = item.expected if isinstance(item.expected, str) else _json(item.expected)
        heading = "Found in the response" if item.is_trace else "Extracted by the judge"
        values = {"Expected": expected, heading: answer_evidence.in_words(item.extracted)}
        for column, (words, value) in zip(st.columns(2), values.items(), strict=True):
            column.caption(words)
            column.code(visible(value), language=None, wrap_lines=True)
        _steps(item)
        if item.reason and not waits(item):
            st.caption(plain(item.reason, 500))
        if item.similarity is not None:
            st.caption(f"Similarity {item.similarity:.3f}")
        relaxed = next(relaxations(item), None) if result.verdict == "fail" else None
        if relaxed is not None:
            near = f"The rule is probably too strict: to {plain(relaxed.label)} would let this pass."
            st.markdown(f":orange-badge[:material/rule: near miss] {near}")


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
    part = result.rubric
    origin = f"{_origin(part.calls[-1])}, and code" if part.calls else "code"
    cost = _cost_of(part.calls)
    with _cell("rubric", tools, "the answer and the traits", "qualities; they change no verdict", origin, cost):
        if not part.performed:
            st.caption("No rubric was evaluated.")
            return
        rows = _rows(result)
        if rows:
            st.dataframe(rows, hide_index=True, alt="Traits of this answer", width="stretch")
        for name, metrics in part.metrics.items():
            undefined = part.confusion[name].undefined
            values = (f"{metric} {n:.2f}{' (undefined)' * (metric in undefined)}" for metric, n in metrics.items())
            st.markdown(f"**{plain(name)}**: {' · '.join(values)}")
            _confusion(part.confusion[name])
        if part.calls:
            _calls("What the judge saw, and what it replied", part.calls, f"{key}_rubric")


def _rows(result: VerificationResult) -> list[dict[str, str]]:
    part, yes_or_no = result.rubric, {True: "✓ yes", False: "✗ no"}
    scores = {name: yes_or_no[value] if isinstance(value, bool) else value for name, value in part.scores.items()}
    rows = [(name, part.labels.get(name, value), part.reasons.get(name, "")) for name, value in scores.items()]
    rows += [(name, yes_or_no[value], "pattern") for name, value in part.regex.items()]
    rows += [(name, "not evaluated", why) for name, why in part.errors.items()]
    return [{"Trait": short(name, 60), "Value": short(value, 60), "Why": short(why, 300)} for name, value, why in rows]


def _confusion(part: ConfusionPart) -> None:
    for sign, words, items, color in (
        ("✓", "found (TP)", part.tp, "green"),
        ("✗", "wrongly named (FP)", [item for item in part.fp if item not in part.expected_fp], "red"),
        ("✗", "wrongly named, as expected (FP)", part.expected_fp, "violet"),
        ("!", "missed (FN)", [item for item in part.fn if item not in part.expected_fn], "orange"),
        ("!", "missed, as expected (FN)", part.expected_fn, "yellow"),
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
            "Time": f"{1000 * stage.seconds:,.1f} ms" if stage.state == "ran" else "",
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

"""The cells of one evaluation: prompt, answer, judge, verdict, rubric, machine."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from karenina_core.analysis.summary import counted
from karenina_core.schemas.results import CallRecord, ConfusionPart, FieldEvidence, VerificationResult
from pages.components import benchmark_choice, frame, services
from pages.components.text import plain, rendered, short, visible, visible_data

_VERDICTS = {
    "pass": ":green-badge[:material/check: pass]",
    "fail": ":red-badge[:material/close: fail]",
    "not_evaluated": ":gray-badge[:material/remove: not evaluated]",
}
_RESULT_SIGNS = {True: "✓ right", False: "✗ wrong", None: "– nothing found"}


def verdict_line(result: VerificationResult) -> None:
    """Show verdict, models and, where there is no verdict, the reason."""
    parts = [_VERDICTS[result.verdict], f"answered by **{plain(result.answering_model)}**"]
    parts.append(f"judged by **{plain(result.parsing_model)}**")
    if result.replicate > 1:
        parts.append(f"repeat {result.replicate}")
    st.markdown(" · ".join(parts))
    if result.failure:
        line = f" (line {result.failure.line} of the template)" if result.failure.line else ""
        st.warning(
            f"{plain(result.failure.reason)}{line}",
            title=f"{result.failure.category.replace('_', ' ').capitalize()}, at stage {plain(result.failure.stage)}",
        )
    for warning in result.warnings:
        st.caption(f":material/info: {plain(warning)}")


def _cell(number: int, title: str, note: str = "") -> Any:
    cell = st.container(border=True)
    cell.markdown(f"**{number} · {title}**")
    if note:
        cell.caption(note)
    return cell


def _origin(call: CallRecord | None) -> str:
    if call is None:
        return ""
    sources = {
        "provider": "model call",
        "ledger": "from the call ledger, free",
        "recording": "from a recording",
        "manual": "prepared answer",
        "local": "model on this computer",
    }
    written = call.provenance.get("kind") == "sample"
    origin = "sample text written by hand, no model's output" if written else sources.get(call.source, call.source)
    parts = [origin, plain(call.model)]
    if call.usage.input_tokens is not None:
        parts.append(f"{call.usage.input_tokens} + {call.usage.output_tokens or 0} tokens")
    if call.usage.cost:
        parts.append(f"\\${call.usage.cost:.5f}")
    if call.seconds >= 0.01:
        parts.append(f"{call.seconds:.2f} s")
    return " · ".join(parts)


def _messages(call: CallRecord) -> None:
    for message in call.messages:
        st.caption(message["role"])
        st.code(visible(message["content"]), language=None, wrap_lines=True)


def prompt(result: VerificationResult) -> None:
    """Show exactly what the answering model was sent."""
    call = result.answer.call if result.answer else None
    with _cell(1, "Prompt", "What the model under test was sent."):
        if call and call.messages:
            _messages(call)
        else:
            st.code(visible(result.question.question), language=None, wrap_lines=True)


def response(result: VerificationResult) -> None:
    """Show the answer."""
    answer = result.answer
    with _cell(2, "Answer", _origin(answer.call) if answer else ""):
        if answer is None:
            st.caption("There is no answer.")
            return
        if answer.truncated:
            st.warning("The answer was cut off at the token limit.")
        text, source = st.tabs(["Rendered", "As text"])
        text.markdown(rendered(answer.text))
        source.code(visible(answer.text), language=None, wrap_lines=True)
        st.caption(f"Reference answer, never shown to a model: {plain(result.question.raw_answer, 500)}")
        facts = answer.call.provenance if answer.call else {}
        told = [
            f"{plain(name)} {plain(value, 80)}" for name, value in facts.items() if isinstance(value, str | int | float)
        ]
        if told:
            st.caption(" · ".join(told))


def judge(result: VerificationResult) -> None:
    """Show the judge's view and its reply."""
    calls = result.template.calls if result.template else []
    with _cell(3, "Judge and extraction", _origin(calls[-1]) if calls else ""):
        for guard, part in (("Abstention check", result.abstention), ("Sufficiency check", result.sufficiency)):
            if part and part.performed:
                st.markdown(f"**{guard}**: {'yes' if part.detected else 'no'}. {plain(part.reasoning)}")
        if not calls:
            st.caption("No judge was asked to fill a template.")
            return
        values = (result.template.parsed if result.template else None) or {}
        if values:
            st.json(visible_data(values), expanded=2)
        with st.expander("What the judge saw, and what it replied", on_change="rerun", key="judge_view") as view:
            if view.open:
                _messages(calls[-1])
                st.caption("schema")
                st.json(visible_data(calls[-1].schema_sent or {}), expanded=1)
                for call in calls:
                    st.caption("reply")
                    st.code(visible(call.reply or ""), language=None, wrap_lines=True)


def verdict(result: VerificationResult) -> None:
    """Show every field: expected, extracted, rule, result."""
    part = result.template
    with _cell(4, "Verdict", "Decided by code: the same values always give the same verdict."):
        if part is None:
            st.caption("The question has no answer template, so nothing is right or wrong.")
            return
        if part.verify_granular_result is not None:
            st.markdown(_share(part.fields, part.verify_granular_result))
        if part.composition_strategy and part.composition_strategy != "all_of":
            st.caption(f"Fields are combined by {plain(part.composition_strategy)}.")
        if part.style != "declarative":
            st.caption("This template decides by its own code, run in a sandbox.")
        for item in part.fields:
            _field(item)


def _share(fields: list[FieldEvidence], share: float) -> str:
    ruled = [item for item in fields if item.rule is not None]
    if not ruled or any(item.weight != 1 for item in ruled):
        return f"Weighted share of right fields: **{share:.2f}**"
    right = sum(item.result is True for item in ruled)
    return f"**{right} of {counted(len(ruled), 'field')} right**"


def _field(item: FieldEvidence) -> None:
    with st.container(border=True):
        own = item.rule is None and item.result is None
        sign = "" if own else _RESULT_SIGNS[item.result]
        rule = item.rule["type"] if item.rule else "the template's own code"
        st.markdown(f"**{plain(item.name)}** · {sign + ' · ' if sign else ''}{plain(rule)}")
        left, right = st.columns(2)
        left.caption("Expected")
        left.code(
            "decided by the rule" if item.expected is None else visible(_text(item.expected)),
            language=None,
            wrap_lines=True,
        )
        right.caption("Found in the response" if item.is_trace else "Extracted by the judge")
        right.code(visible(_text(item.extracted)), language=None, wrap_lines=True)
        for label, before, after in item.steps:
            st.caption(f"{plain(label)}: {plain(before, 200)} → {plain(after, 200)}")
        if item.reason:
            st.caption(plain(item.reason, 500))
        if item.similarity is not None:
            st.caption(f"Similarity {item.similarity:.3f}")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def rubric(result: VerificationResult) -> None:
    """Show all traits with their reasons."""
    part = result.rubric
    with _cell(5, "Rubric", "Traits describe quality; they change no verdict."):
        if not part.performed:
            st.caption("No rubric was evaluated.")
            return
        rows = [
            {"Trait": name, "Value": _score(result, name), "Why": part.reasons.get(name, "")} for name in part.scores
        ]
        rows += [
            {"Trait": name, "Value": "✓ yes" if value else "✗ no", "Why": "pattern"}
            for name, value in part.regex.items()
        ]
        rows += [{"Trait": name, "Value": "not evaluated", "Why": why} for name, why in part.errors.items()]
        for row in rows:
            row["Trait"] = short(row["Trait"], 60)
            row["Value"] = short(row["Value"], 60)
            row["Why"] = short(row["Why"], 300)
        if rows:
            st.dataframe(rows, hide_index=True, alt="Traits of this answer", width="stretch")
        if part.calls:
            with st.expander("What the judge saw, and what it replied", on_change="rerun", key="rubric_view") as view:
                if view.open:
                    for call in part.calls:
                        _messages(call)
                        st.caption("reply")
                        st.code(visible(call.reply or ""), language=None, wrap_lines=True)
        for name, metrics in part.metrics.items():
            values = " · ".join(
                f"{metric} {value:.2f}" + (" (undefined)" if metric in part.confusion[name].undefined else "")
                for metric, value in metrics.items()
            )
            st.markdown(f"**{plain(name)}**: {values}")
            _confusion(part.confusion[name])


def _score(result: VerificationResult, name: str) -> str:
    value = result.rubric.scores[name]
    if name in result.rubric.labels:
        return result.rubric.labels[name]
    if isinstance(value, bool):
        return "✓ yes" if value else "✗ no"
    return str(value)


def _confusion(part: ConfusionPart) -> None:
    for sign, title, items, color in (
        ("✓", "found (TP)", part.tp, "green"),
        ("✗", "wrongly named (FP)", part.fp, "red"),
        ("!", "missed (FN)", part.fn, "orange"),
        ("✓", "rightly excluded (TN)", part.tn, "blue"),
        ("–", "not mentioned, not counted", part.not_mentioned, "gray"),
    ):
        if items:
            chips = " ".join(f":{color}-badge[{sign} {plain(item, 60)}]" for item in items)
            st.markdown(f"{title}: {chips}")


def _time(seconds: float) -> str:
    if seconds < 0.001:
        return "< 1 ms"
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def question_link(run_id: str, question_id: str) -> None:
    """Lead to the question, when the benchmark of the run still has it."""
    store = services.store()
    row = next((row for row in store.benchmarks() if row.id == store.run(run_id).benchmark_id), None)
    if row is None or question_id not in benchmark_choice.reading(row.id, row.revision).get_question_ids():
        return
    if st.button("Open this question", icon=":material/quiz:", key="open_question", type="tertiary"):
        st.switch_page(frame.QUESTIONS, query_params={"benchmark": row.id, "q": question_id})


def machine(result: VerificationResult) -> None:
    """Show what each stage did."""
    with _cell(6, "Stages", f"{result.usage.calls} model calls, {result.usage.cached_calls} of them from the ledger"):
        rows = [
            {
                "Stage": f"{number} {stage.name.replace('_', ' ').capitalize()}",
                "State": stage.state,
                "Time": _time(stage.seconds) if stage.state == "ran" else "",
                "Note": short(stage.note, 2000),
            }
            for number, stage in enumerate(result.stages, 1)
        ]
        st.dataframe(rows, hide_index=True, alt="Stages of this evaluation", width="stretch")
        if result.similarity:
            part = result.similarity
            st.caption(
                f"Whole-answer similarity {part.similarity:.3f} (information only)"
                if part.performed and part.similarity is not None
                else f"Whole-answer similarity not computed: {plain(part.reason)}"
            )

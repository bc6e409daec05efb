"""Ways to try a template out: explain an answer, near misses of the truth, what if, and what the judge gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from karenina_core.analysis import interval, percent
from karenina_core.authoring import (
    Acceptance,
    Case,
    Curve,
    Point,
    StoredAnswer,
    acceptances,
    adjustable,
    explain,
    near_misses,
    read_notes,
    set_parameter,
    settings_of,
    steps_in_line,
    what_if,
)
from karenina_core.errors import KareninaError
from karenina_core.pipeline import judge_view
from karenina_core.runs import JudgedAnswer, stored_answers
from karenina_core.schemas import FieldEvidence, ModelConfig, VerificationConfig, quoted, rule_help, rule_title
from karenina_core.templates import FieldSpec, Template
from karenina_core.text import counted
from pages.components import forms, frame, services
from pages.components.drafts import Draft
from pages.components.templates.field import judged_input
from pages.components.templates.state import change, put_source
from pages.components.text import input_label, plain, short, visible, visible_data

_SIGNS = {"pass": "✓", "fail": "✗", "not_evaluated": "–"}
_VERDICTS = {
    True: ":green-badge[:material/check: right]",
    False: ":red-badge[:material/close: wrong]",
    None: ":gray-badge[:material/more_horiz: not decided here]",
}
_NOTHING = ":gray-badge[:material/remove: nothing found, so not right]"
_FILLED = "_template_explain_truth"
_CASE_VERDICTS = {
    "pass": "✓ passes",
    "fail": "✗ fails",
    "refused": "↺ asked again",
    "undecided": "… only a run can tell",
}
_EXPECTED = {"pass": "should pass", "fail": "should fail", "either": "your choice"}
_CASE_VIEWS = {
    "All": lambda case: True,
    "Surprises": lambda case: case.surprising,
    "Fails": lambda case: case.verdict in ("fail", "refused"),
    "Passes": lambda case: case.verdict == "pass",
}
_SAMPLE = "The response of the model under test stands here."


def draw(draft: Draft, question_id: str, template: Template) -> None:
    """Draw the choice of a trial, and the chosen one."""
    trials = {"Explain": _explain, "Near misses": _self_test, "What if": _what_if, "Judge's view": _judge_view}
    trial = st.segmented_control("Try it out", list(trials), key="template_trial")
    if trial:
        trials[trial](draft, question_id, template)


# The stored answers to a question.


def _stored(question_id: str) -> list[JudgedAnswer]:
    """Return the stored answers to a question, read once per state of the runs."""
    state = " ".join(f"{run.id}:{run.status}:{run.done}" for run in services.store().runs.all())
    return _read_stored(question_id, state)


@st.cache_resource(max_entries=16, show_spinner=False)
def _read_stored(question_id: str, state: str) -> list[JudgedAnswer]:
    return stored_answers(services.store(), question_id)


def _choose_stored(question_id: str, without: str, key: str) -> JudgedAnswer | None:
    """Draw the list of stored answers and return the chosen one, or None for the entry `without` any."""
    answers = {f"{answer.run.id}/{answer.result.result_id}": answer for answer in _stored(question_id)}
    if not answers:
        st.caption("No run has an answer to this question yet.")
        return None
    names = {"": without} | {name: _label(answer) for name, answer in answers.items()}
    return answers.get(forms.select(f"Answer ({len(answers)} stored)", names, f"{key}_{question_id}"))


def _label(answer: JudgedAnswer) -> str:
    result = answer.result
    repeat = f" · repeat {result.replicate}" if result.replicate > 1 else ""
    who = f"{short(result.answering_model, 40)} · judge {short(result.parsing_model, 40)}{repeat}"
    return f"{_SIGNS[result.verdict]} {who} · {short(answer.run.name, 40)}"


# Explain: why an answer passes or fails.


def _explain(draft: Draft, question_id: str, template: Template) -> None:
    st.caption(
        "Fill in what a judge would extract from an answer, and see what every rule does with it. No model is asked."
    )
    chosen = _choose_stored(question_id, "An answer of my own", "explain_answer")
    place = chosen.result.result_id if chosen else f"own_{st.session_state.get(_FILLED, 0)}"
    response = st.text_area(
        "Answer",
        chosen.response if chosen else "",
        height=110,
        placeholder="Paste an answer; nothing is stored",
        key=f"explain_response_{question_id}_{place}",
    )
    values = _values(template, question_id, place, chosen)
    if chosen is None and template.spec.verified:
        forms.button("Fill in the truth", "done_all", "explain_truth", on_click=_fill_in_truth)
    if chosen is None and not response.strip() and all(value in (None, [], {}) for value in values.values()):
        st.caption("The verdict, and every step that leads to it, appear here as soon as something is filled in.")
        return
    with frame.guard():
        _explained(template, values, response, chosen)


def _fill_in_truth() -> None:
    """Begin anew with the truth in all fields."""
    st.session_state[_FILLED] = st.session_state.get(_FILLED, 0) + 1


def _values(template: Template, question_id: str, place: str, chosen: JudgedAnswer | None) -> dict[str, Any]:
    judged = template.spec.judged
    if not judged:
        return {}
    known: Mapping[str, Any] = (chosen.values or {}) if chosen else {}
    if chosen is None and st.session_state.get(_FILLED):
        known = {item.name: item.ground_truth for item in judged}
    st.markdown("**What the judge extracts**", help="A blank field means that the response says nothing about it.")
    return {
        item.name: judged_input(item, known.get(item.name), f"explain_{question_id}_{place}_{item.name}_{item.type}")
        for item in judged
    }


def _explained(template: Template, values: dict[str, Any], response: str, chosen: JudgedAnswer | None) -> None:
    try:
        values = template.validate_reply(values)
    except KareninaError as error:
        st.warning(plain(error.why), title="The judge would be asked again, because its reply does not fit the schema")
        return
    known = chosen.known_to(template.spec) if chosen else None
    same = {name for name, value in values.items() if known and known.values.get(name) == value}
    similar = {name: value for name, value in (known.similarities if known else {}).items() if name in same}
    evaluation = explain(template, StoredAnswer(values, response, similar))
    how = "by the template's own code" if template.spec.own_code else ""
    if template.spec.verify_strategy is not None and not how:
        how = f"by {plain(template.composition_strategy)}"
    st.markdown(f"Verdict: {_VERDICTS[evaluation.verdict]} {how}")
    for item in evaluation.fields:
        _explained_field(item)


def _explained_field(item: FieldEvidence) -> None:
    with st.container(border=True, gap="small"):
        nothing = item.extracted is None and item.rule is not None
        name = str(item.rule["type"]) if item.rule else ""
        sign = _NOTHING if nothing else _VERDICTS[item.result]
        st.markdown(f"**{plain(item.name, 60)}** {sign} {plain(rule_title(name), 80)}", help=rule_help(name))
        st.code(visible(steps_in_line(item)), language=None, wrap_lines=True)
        truth = steps_in_line(item, of_truth=True)
        if "→" in truth:
            st.caption("What happens to the truth")
            st.code(visible(truth), language=None, wrap_lines=True)
        idle = ", ".join(label for label, before, after in item.steps if before == after and "expected" not in label)
        st.caption(plain(f"{item.reason}{f' Without effect here: {idle}.' if idle else ''}".strip(), 600))


# Near misses: variants of the truth, what the rules make of them, and changes that would accept more.


def _self_test(draft: Draft, question_id: str, template: Template) -> None:
    st.caption("Answers that are nearly right, made from the truth. No model is asked.")
    with frame.guard():
        notes = read_notes(draft.values.get("answer_notes") or None)
        cases = near_misses(template, accepted=notes.accepted, rejected=notes.rejected)
        if not cases:
            st.info("No field has a built-in rule with variants to try.", icon=":material/info:")
            return
        odd = sum(case.surprising for case in cases)
        passing = f"{counted(len(cases), 'variant')}, {sum(case.verdict == 'pass' for case in cases)} pass."
        if odd:
            st.markdown(f":orange-badge[:material/priority_high: {counted(odd, 'surprise')}] {passing}")
            st.caption("The rules decide a surprise differently from what an author will want; look at those first.")
        else:
            st.markdown(f":green-badge[:material/check: no surprise] {passing}")
        shown = forms.viewed("self_test", {str(at): case for at, case in enumerate(cases)}, _CASE_VIEWS)
        if shown:
            forms.table([_case_row(case) for case in shown.values()], "Variants of the truth", most=14)
        else:
            st.caption("No variant is in this view.")
        if not template.spec.own_code:
            _changes(draft, acceptances(template, cases))


def _case_row(case: Case) -> dict[str, str]:
    value: Any = case.response if case.response is not None else case.values[case.field]
    return {
        "Verdict": _CASE_VERDICTS[case.verdict] + (" !" if case.surprising else ""),
        "Field": short(case.field, 40),
        "Variant": case.label,
        "Value": "–" if value is None else short(quoted(value), 80),
        "Wanted": _EXPECTED[case.expected],
        "Step by step": short(_why(case), 300),
    }


def _changes(draft: Draft, changes: Sequence[Acceptance]) -> None:
    if changes:
        st.markdown("**Changes that would accept a variant which fails now**")
    for at, accepting in enumerate(changes):
        with st.container(horizontal=True, vertical_alignment="center"):
            act: dict[str, Any] = {"on_click": _accept, "args": (draft, accepting)}
            forms.button(plain(accepting.change.title, 80), "add_task", f"self_test_accept_{at}", **act)
            accepted = ", ".join(case.label for case in accepting.accepts)
            opened = ", ".join(case.label for case in accepting.opens)
            warning = f" Would also let through: {plain(opened, 200)}." if opened else ""
            field = plain(accepting.change.item.name, 40)
            st.caption(f"{field}: accepts {plain(accepted, 300)}.{warning}", width="stretch")


def _accept(draft: Draft, accepting: Acceptance) -> None:
    put_source(draft, accepting.change.applied_to, f"{plain(accepting.change.title, 80)}: done.")


def _why(case: Case) -> str:
    item = case.evidence
    return f"{steps_in_line(item)} {item.reason}" if item else "the value does not fit the type"


# What if a tolerance, a threshold or a length were another one: the pass rate over the stored answers.


def _what_if(draft: Draft, question_id: str, template: Template) -> None:
    st.caption("The stored answers decided again with another setting, for free. No model is asked.")
    if template.spec.own_code:
        st.info("The template's own code decides, so no setting can be tried here.", icon=":material/info:")
        return
    settings = {
        f"{item.name}.{entry.name}": (item, entry.name) for item in template.spec.fields for entry in adjustable(item)
    }
    if not settings:
        st.info("No rule of this template has a tolerance, a threshold, a bound or a length.", icon=":material/info:")
        return
    answers = _usable(template, question_id)
    if not answers:
        return
    chosen = forms.select("Setting", {name: short(name, 80) for name in settings}, f"what_if_{question_id}")
    with frame.guard():
        _curve(draft, template, *settings[chosen], answers)


def _usable(template: Template, question_id: str) -> list[StoredAnswer]:
    answers = _stored(question_id)
    known = [known for answer in answers if (known := answer.known_to(template.spec)) is not None]
    missing = len(answers) - len(known)
    if not answers:
        st.info(
            "No run has an answer to this question yet. Run it once, and try settings for free.", icon=":material/info:"
        )
    elif missing:
        reason = "no judge was asked for all fields of this template"
        st.caption(f":material/info: {counted(missing, 'stored answer')} left out: {reason}.")
        if not known:
            st.info("No stored answer has all fields of this template. Run it again.", icon=":material/info:")
    return known


def _curve(draft: Draft, template: Template, item: FieldSpec, name: str, answers: Sequence[StoredAnswer]) -> None:
    from karenina_core.analysis import what_if as figure

    now = getattr(item.primitive, name)
    curve = what_if(template, item.name, name, settings_of(item, name, answers), answers)
    points = {point.setting: point for point in curve.points}
    if not points:
        st.info("No other setting is possible.", icon=":material/info:")
        return
    chosen = st.select_slider(
        f"{input_label(name)} of {input_label(item.name, 60)}",
        list(points),
        value=now if now in points else list(points)[-1],
        format_func=lambda setting: f"{setting:g}",
        key=f"what_if_value_{draft.generation}_{item.name}_{name}",
    )
    st.markdown(_sentence(curve, points[chosen]))
    act: dict[str, Any] = {"on_click": _use, "args": (draft, item.name, name, chosen)}
    forms.button("Use this value", "check", "what_if_use", disabled=chosen == now, **act)
    title = "How many stored answers would pass with another setting?"
    st.markdown(f"**{title}**")
    st.plotly_chart(
        figure(curve, now, chosen),
        key=f"what_if_figure_{curve.field}_{curve.parameter}",
        config={"displaylogo": False, "modeBarButtons": [["toImage"]]},
        alt=title,
    )
    st.caption("The line is the share that passes, the band its 95 % interval, the dotted line the present setting.")
    with st.expander("The numbers as a table", on_change="rerun", key="what_if_numbers") as numbers:
        if numbers.open:
            rows = [
                {"Setting": at, "Pass": point.passed, "Of": curve.total, "More": point.gained, "Fewer": point.lost}
                for at, point in points.items()
            ]
            forms.table(rows, "Pass rate by setting")


def _sentence(curve: Curve, point: Point) -> str:
    from karenina_core.analysis import wilson

    rate = point.passed / curve.total
    low, high = wilson([rate], [curve.total])
    shown = f"{percent(rate)}, 95 % interval {interval(float(low[0]), float(high[0]))}"
    changed = f"{point.gained} more, {point.lost} fewer than the {curve.now} now"
    passing = f"**{point.passed} of {curve.total}** stored answers pass ({shown})"
    return f"With {plain(curve.parameter)} = **{point.setting:g}**, {passing}: {changed}."


def _use(draft: Draft, field: str, parameter: str, value: Any) -> None:
    def edit(data: dict[str, Any]) -> dict[str, Any]:
        place = next((at for at, item in enumerate(data["fields"]) if item.get("name") == field), None)
        return data if place is None else set_parameter(data, place, parameter, value)

    change(draft, edit, anew=True)


# The judge's view: the schema and the prompt of a run, built by the same code.


def _judge_view(draft: Draft, question_id: str, template: Template) -> None:
    if not template.needs_judge:
        st.caption("Nothing: every field is decided from the text of the response, so no judge is asked.")
        return
    st.caption(
        "The question, the response and this schema, exactly as a run sends them. Never the truth, the rules or the "
        "reference answer."
    )
    chosen = _choose_stored(question_id, "A sample response", "judge_answer")
    response = chosen.response if chosen else st.text_input("Response", _SAMPLE, key=f"judge_sample_{question_id}")
    config, judge = _settings(chosen)
    view = judge_view(template, draft.values["question"], response, config=config, judge=judge)
    if view is None:
        return
    if chosen is not None:
        st.caption("With the settings and the judge of the run that has this answer.")
    for message in view.messages:
        st.markdown(f"**{message.role.capitalize()} message**")
        st.code(visible(message.content), language=None, wrap_lines=True)
    st.markdown("**Schema of the reply**")
    st.json(visible_data(view.schema), expanded=3)


def _settings(chosen: JudgedAnswer | None) -> tuple[VerificationConfig | None, ModelConfig | None]:
    if chosen is None:
        return None, None
    config = chosen.run.config
    judge = next((model for model in config.parsing_models if model.id == chosen.result.parsing_model), None)
    return config, judge

"""Why an answer passes or fails: values as a judge would extract them, and what each rule does with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from karenina_core.authoring import Chain, FieldSteps, explain, explain_verdict
from karenina_core.errors import KareninaError
from karenina_core.runs import JudgedAnswer
from karenina_core.schemas import NOTHING_EXTRACTED, rule_title
from karenina_core.templates import FieldSpec, Template
from pages.components import frame
from pages.components.drafts import Draft
from pages.components.templates import answers as template_answers
from pages.components.templates.values import label_of, value_input, value_of
from pages.components.text import input_label, plain, visible

_VERDICTS = {
    True: ":green-badge[:material/check: right]",
    False: ":red-badge[:material/close: wrong]",
    None: ":gray-badge[:material/more_horiz: not decided here]",
}
_NOTHING = ":gray-badge[:material/remove: nothing found, so not right]"
_FILLED = "_template_explain_truth"


def draw(draft: Draft, question_id: str, template: Template) -> None:
    """Draw the trial of a template on one answer."""
    st.caption(
        "Fill in what a judge would extract from an answer, and see what every rule does with it. No model is asked."
    )
    chosen = template_answers.choose(question_id, "An answer of my own", "explain_answer")
    place = chosen.result_id if chosen else f"own_{st.session_state.get(_FILLED, 0)}"
    response = st.text_area(
        "Answer",
        chosen.response if chosen else "",
        height=110,
        placeholder="Paste an answer; nothing is stored",
        key=f"explain_response_{question_id}_{place}",
    )
    values = _values(template, question_id, place, chosen)
    if chosen is None and template.spec.verified:
        st.button(
            "Fill in the truth", icon=":material/done_all:", key="explain_truth", on_click=_fill, args=(template,)
        )
    if chosen is None and not response.strip() and all(value in (None, [], {}) for value in values.values()):
        st.caption("The verdict, and every step that leads to it, appear here as soon as something is filled in.")
        return
    with frame.guard():
        _explained(template, values, response, chosen)


def _fill(template: Template) -> None:
    """Begin again with the truth in all fields."""
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
        item.name: _value(item, known.get(item.name), f"explain_{question_id}_{place}_{item.name}") for item in judged
    }


def _value(item: FieldSpec, value: Any, key: str) -> Any:
    title = label_of(item.type, input_label(item.name, 60))
    typed = value_input(title, item.type, value, item.literal_values, key=f"{key}_{item.type}")
    found = value_of(item.type, typed)
    return None if isinstance(typed, str) and not typed.strip() and item.type != "literal" else found


def _explained(template: Template, values: dict[str, Any], response: str, chosen: JudgedAnswer | None) -> None:
    try:
        values = template.validate_reply(values)
    except KareninaError as error:
        st.warning(plain(error.why), title="The judge would be asked again, because its reply does not fit the schema")
        return
    known = chosen.known_to(template.spec) if chosen else None
    same = {name for name, value in values.items() if known and known.values.get(name) == value}
    similar = {name: value for name, value in (known.similarities if known else {}).items() if name in same}
    fields = explain(template, values, response, similarities=similar)
    _verdict(template, fields, values, response)
    for steps in fields:
        _field(steps)


def _verdict(template: Template, fields: tuple[FieldSteps, ...], values: dict[str, Any], response: str) -> None:
    if template.spec.own_code:
        verdict = template.evaluate(values, response).verdict
        st.markdown(f"Verdict: {_VERDICTS[verdict]} by the template's own code")
        return
    told = explain_verdict(template, fields)
    # How the fields are combined says nothing about a single one.
    combined = plain(str(told), 400) if len(fields) > 1 else ""
    st.markdown(f"Verdict: {_VERDICTS[told.result]} {combined}")


def _field(steps: FieldSteps) -> None:
    with st.container(border=True, gap="small"):
        sign = _NOTHING if steps.reason == NOTHING_EXTRACTED else _VERDICTS[steps.result]
        rule = rule_title(steps.rule.partition("(")[0])
        help_text = f"In the template: {plain(steps.rule, 200)}." if rule else None
        st.markdown(f"**{plain(steps.field, 60)}** {sign} {plain(rule, 80)}", help=help_text)
        st.code(visible(str(steps)), language=None, wrap_lines=True)
        expected = steps.expected
        if expected is not None and any(link.changed for link in expected.links):
            st.caption("The truth on its way")
            st.code(visible(str(expected)), language=None, wrap_lines=True)
        idle = _idle(steps.found)
        st.caption(plain(f"{steps.reason} {idle}".strip(), 600))


def _idle(found: Chain) -> str:
    names = [link.name for link in found.links if not link.changed]
    return f"Without effect here: {', '.join(names)}." if names else ""

"""What if a tolerance, a threshold or a length were another one: the pass rate over the stored answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from karenina_core.analysis import interval, percent
from karenina_core.authoring import Curve, Point, StoredAnswer, adjustable, set_parameter, settings_of, what_if
from karenina_core.templates import FieldSpec, Template
from karenina_core.text import counted
from pages.components import frame
from pages.components.drafts import Draft
from pages.components.templates import answers as template_answers
from pages.components.templates.state import change
from pages.components.text import input_label, plain, short


def draw(draft: Draft, question_id: str, template: Template) -> None:
    """Draw the slider and the pass rate for every setting of it."""
    st.caption("The stored answers decided again with another setting, for free. No model is asked.")
    if template.spec.own_code:
        st.info("The template's own code decides, so no setting can be tried here.", icon=":material/info:")
        return
    choices = [(item, entry.name) for item in template.spec.fields for entry in adjustable(item)]
    if not choices:
        st.info("No rule of this template has a tolerance, a threshold, a bound or a length.", icon=":material/info:")
        return
    stored = _usable(template, question_id)
    if not stored:
        return
    labels = {f"{item.name}.{name}": (item, name) for item, name in choices}
    key = f"what_if_{question_id}"
    label = st.selectbox("Setting", list(labels), format_func=lambda name: short(name, 80), key=key)
    item, name = labels[str(label)]
    with frame.guard():
        _curve(draft, template, item, name, stored)


def _usable(template: Template, question_id: str) -> list[StoredAnswer]:
    answers = template_answers.stored(question_id)
    known = [known for answer in answers if (known := answer.known_to(template.spec)) is not None]
    missing = len(answers) - len(known)
    if not answers:
        st.info(
            "No run has an answer to this question yet. Run it once, and try settings for free.", icon=":material/info:"
        )
    elif missing:
        told = "no judge was asked for all fields of this template"
        st.caption(f":material/info: {counted(missing, 'stored answer')} left out: {told}.")
        if not known:
            st.info("No stored answer has all fields of this template. Run it again.", icon=":material/info:")
    return known


def _curve(draft: Draft, template: Template, item: FieldSpec, name: str, stored: Sequence[StoredAnswer]) -> None:
    settings = settings_of(item, name, stored)
    now = getattr(item.primitive, name)
    curve = what_if(template, item.name, name, settings, stored)
    possible = [point for point in curve.points if point.passed is not None]
    if not possible:
        st.info("No other setting is possible.", icon=":material/info:")
        return
    options = [point.setting for point in possible]
    chosen = st.select_slider(
        f"{input_label(name)} of {input_label(item.name, 60)}",
        options,
        value=now if now in options else options[-1],
        format_func=lambda setting: f"{setting:g}",
        key=f"what_if_value_{draft.generation}_{item.name}_{name}",
    )
    point = next(point for point in possible if point.setting == chosen)
    st.markdown(_sentence(curve, point))
    st.button(
        "Use this value",
        icon=":material/check:",
        key="what_if_use",
        disabled=chosen == now,
        on_click=_use,
        args=(draft, item.name, name, chosen),
    )
    _figure(curve, now, chosen)
    _numbers(possible, curve)


def _sentence(curve: Curve, point: Point) -> str:
    from karenina_core.analysis import wilson

    passed = point.passed or 0
    rate = passed / curve.total
    low, high = wilson([rate], [curve.total])
    shown = f"{percent(rate)}, 95 % interval {interval(float(low[0]), float(high[0]))}"
    changed = f"{point.gained} more, {point.lost} fewer than the {curve.now} now"
    return (
        f"With {plain(curve.parameter)} = **{point.setting:g}**, **{passed} of {curve.total}** stored answers pass "
        f"({shown}): {changed}."
    )


def _use(draft: Draft, field: str, parameter: str, value: Any) -> None:
    def used(data: dict[str, Any]) -> dict[str, Any]:
        place = next((at for at, item in enumerate(data["fields"]) if item.get("name") == field), None)
        return data if place is None else set_parameter(data, place, parameter, value)

    change(draft, used, anew=True)


def _figure(curve: Curve, now: Any, chosen: Any) -> None:
    from karenina_core.analysis import what_if as figure

    title = "How many stored answers would pass with another setting?"
    st.markdown(f"**{title}**")
    st.plotly_chart(
        figure(curve, now, chosen),
        key=f"what_if_figure_{curve.field}_{curve.parameter}",
        config={"displaylogo": False, "modeBarButtons": [["toImage"]]},
        alt=title,
    )
    st.caption("The line is the share that passes, the band its 95 % interval, the dotted line the present setting.")


def _numbers(points: Sequence[Point], curve: Curve) -> None:
    with st.expander("The numbers as a table", on_change="rerun", key="what_if_numbers") as numbers:
        if numbers.open:
            rows = [
                {
                    "Setting": point.setting,
                    "Pass": point.passed,
                    "Of": curve.total,
                    "More": point.gained,
                    "Fewer": point.lost,
                }
                for point in points
            ]
            st.dataframe(rows, hide_index=True, alt="Pass rate by setting")

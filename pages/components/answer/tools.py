"""What can be done in the cells of an answer: ask again, paste, edit values and rules, save a rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from karenina_core.authoring import form_of, parameters_of, replace_field
from karenina_core.errors import KareninaError, validation_message
from karenina_core.runs import Trial, carry_out, models_of, pasted, trial_plan, why_not
from karenina_core.schemas import NORMALIZERS, rule_help, rule_title, title
from karenina_core.templates import FieldSpec, read_template
from pages.components import frame, services, session_keys
from pages.components.answer import reverify as answer_reverify
from pages.components.answer import review as answer_review
from pages.components.answer import scratch as answer_scratch
from pages.components.answer.cells import Tools
from pages.components.answer.scratch import Scratch
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.runs import spending
from pages.components.templates.field import (
    judged_input,
    label_of,
    parameter_input,
    parameter_of,
    value_input,
    value_of,
)
from pages.components.text import plain


def tools(scratch: Scratch) -> Tools:
    """Return what each cell offers for this result."""
    return {
        "prompt": lambda: _open("Edit the prompt and answer again", "edit_prompt", scratch, _prompt),
        "answer": lambda: _open("Paste another answer", "paste", scratch, _paste),
        "judge": lambda: _open("Judge again", "judge_again", scratch, _judge),
        "extraction": lambda: _open("What if the judge had said something else", "edit_values", scratch, _values),
        "verdict": lambda: _verdict(scratch),
        "review": lambda: answer_review.form(scratch.run_id, scratch.stored),
    }


def _open(label: str, key: str, scratch: Scratch, draw: Callable[[Scratch, str], None]) -> None:
    """Draw a tool only while it is open, because some of them count what they would cost."""
    own = f"{key}_{scratch.generation}"
    with st.expander(label, icon=":material/edit:", on_change="rerun", key=f"{own}_open") as view:
        if view.open:
            with frame.guard():
                draw(scratch, own)


# Asking again


def _prompt(scratch: Scratch, key: str) -> None:
    stored = scratch.stored
    answering, _ = models_of(services.store().runs.get(scratch.run_id).config, stored)
    if reason := why_not(answering):
        st.caption(f":material/block: {plain(reason)}")
        return
    question = st.text_area("Question", value=stored.question.question, key=f"{key}_question")
    system = st.text_area("System prompt", value=answering.system_prompt or "", key=f"{key}_system")
    trial = Trial(
        question=question if question != stored.question.question else None,
        system_prompt=system if system != (answering.system_prompt or "") else None,
        template=answer_scratch.source_of_today(scratch.run_id, stored.question.id),
        with_rubric=_with_rubric(scratch, key),
    )
    _ask(scratch, trial, key, "Answer again")


def _paste(scratch: Scratch, key: str) -> None:
    now = scratch.base.answer.text if scratch.base.answer else ""
    text = st.text_area("Answer", value=now, key=f"{key}_text", height=200)
    st.caption("What was extracted from the old answer does not count for another one; the judge reads it anew below.")
    if st.button("Use this answer", key=f"{key}_use", icon=":material/content_paste:"):
        scratch.continue_with(pasted(scratch.stored, text))
        st.rerun()


def _judge(scratch: Scratch, key: str) -> None:
    base = scratch.base
    _, parsing = models_of(services.store().runs.get(scratch.run_id).config, base)
    if base.answer is None:
        st.caption("There is no answer to judge.")
    elif reason := why_not(parsing):
        st.caption(f":material/block: {plain(reason)}")
    else:
        trial = Trial(answer=base.answer.text, template=_source(scratch), with_rubric=_with_rubric(scratch, key))
        _ask(scratch, trial, key, "Judge again")


def _source(scratch: Scratch) -> str | None:
    return scratch.source or answer_scratch.source_of_today(scratch.run_id, scratch.stored.question.id)


def _with_rubric(scratch: Scratch, key: str) -> bool:
    label = "Evaluate the rubric too, which takes further calls"
    return scratch.stored.rubric.performed and st.checkbox(label, key=f"{key}_rubric")


def _ask(scratch: Scratch, trial: Trial, key: str, label: str) -> None:
    """Say what the calls take, and make them when that is agreed to."""
    store = services.store()
    plan = trial_plan(store, scratch.run_id, scratch.base, trial)
    anew = st.checkbox("Ask anew, even where a reply to the very same prompt is known already", key=f"{key}_anew")
    expected = spending.expected(plan)
    if anew and expected is not None and expected.cached:
        st.caption(f"The {expected.cached} replies that are known already are asked for again.")
    agreed = spending.confirm(expected, plan.config, key)
    if st.button(label, key=f"{key}_go", icon=":material/play_arrow:", disabled=not agreed):
        with st.spinner("Asking"):
            scratch.continue_with(carry_out(store, plan, scratch.base, keys=session_keys.source(), anew=anew))
        st.rerun()


# Values by hand


def _values(scratch: Scratch, key: str) -> None:
    source = _source(scratch)
    if source is None or scratch.base.answer is None:
        missing = "The question has no answer template." if source is None else "There is no answer to judge."
        st.caption(missing)
        return
    template = read_template(source)
    if not template.needs_judge:
        st.caption("Every field reads the answer itself; there is nothing for a judge to say.")
        return
    before = scratch.values if scratch.values is not None else (scratch.base.template and scratch.base.template.parsed)
    known = dict(before or {})
    with st.form(key, border=False):
        fields = template.spec.judged
        typed = {item.name: judged_input(item, known.get(item.name), f"{key}_{item.name}") for item in fields}
        st.caption("None, or an empty field, means that the judge found nothing.")
        if st.form_submit_button("Decide by these values", icon=":material/gavel:"):
            template.validate_reply(typed)
            scratch.values = typed
            st.rerun()


# Rules


def _verdict(scratch: Scratch) -> None:
    answer_scratch.say_changed(scratch)
    _open("Edit a rule, which takes no call", "edit_rule", scratch, _rule)
    if scratch.source is not None:
        with frame.guard():
            _save_rule(scratch, scratch.source)


def _rule(scratch: Scratch, key: str) -> None:
    source = answer_scratch.source_of_today(scratch.run_id, scratch.stored.question.id)
    if source is None:
        st.caption("The question has no answer template.")
        return
    edited = scratch.source or source
    view = form_of(edited)
    fields = [item for item in (view.spec.fields if view.spec else ()) if item.primitive is not None]
    if not view.editable or not fields:
        st.caption(plain(view.reason or "No field of this template has a built-in rule."))
        return
    for item in fields:
        with st.container(border=True):
            name = str((item.verify_with or {})["type"])
            st.markdown(f"**{plain(item.name)}** · {plain(rule_title(name))}", help=rule_help(name))
            edited = _edited(edited, item, f"{key}_{item.name}")
    wanted = None if edited == source else edited
    if wanted != scratch.source:
        scratch.source = wanted
        st.rerun()


def _edited(source: str, item: FieldSpec, key: str) -> str:
    try:
        field = _rule_form(item, key)
        now = next(one for one in read_template(source).spec.fields if one.name == item.name)
        return source if field == now else replace_field(source, item.name, field)
    except (KareninaError, ValueError) as error:
        frame.show_error(error if isinstance(error, KareninaError) else KareninaError(validation_message(error)))
        return source


def _rule_form(item: FieldSpec, key: str) -> FieldSpec:
    """Draw a form for a field's truth and the settings of its rule, and return the field as it says.

    Raises:
        ValueError: The settings contradict each other.
    """
    rule, truth = dict(item.verify_with or {}), item.ground_truth
    if item.is_trace or getattr(item.primitive, "uses_ground_truth", True):
        typed = value_input(label_of(item.type, "Truth"), item.type, truth, item.literal_values, key=f"{key}_truth")
        truth = value_of(item.type, typed)
    for entry in parameters_of(type(item.primitive)):  # type: ignore[arg-type]
        if entry.name in rule:
            value, own = rule[entry.name], f"{key}_{entry.name}"
            is_chain = entry.kind == "normalizers"
            rule[entry.name] = (
                _normalizers(value, own) if is_chain else parameter_of(entry, parameter_input(entry, value, key=own))
            )
    return FieldSpec.model_validate({**item.model_dump(), "verify_with": rule, "ground_truth": truth})


def _normalizers(value: list[Any], key: str) -> list[Any]:
    """Draw the chain of normalisers; a synonym map in it keeps its place among those that stay."""
    synonyms = "the synonyms it has"
    named = {(f"{synonyms} ({place})" if isinstance(part, dict) else part): part for place, part in enumerate(value)}
    names = {**{name: title(name) for name in NORMALIZERS}, **{name: name for name in named if name not in NORMALIZERS}}
    about = "In the template: " + "; ".join(f"{title(name)} is `{name}`" for name in NORMALIZERS) + "."
    look: Any = {"format_func": names.__getitem__, "help": about, "key": key}
    chosen = st.multiselect("Normalisers, in their order", list(names), list(named), **look)
    return [named.get(name, name) for name in chosen]


def _save_rule(scratch: Scratch, source: str) -> None:
    row = answer_scratch.stored_benchmark(scratch.run_id)
    question_id = scratch.stored.question.id
    if row is None or question_id not in benchmark_choice.reading(row.id, row.revision):
        st.caption("The benchmark of this run does not have this question any more, so the rule cannot be saved.")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Save this rule in the benchmark", key="save_rule", icon=":material/save:", type="primary"):
            with benchmark_choice.changing(row.id) as benchmark:
                benchmark.update_template(question_id, source)
            answer_scratch.discard()
            answer_reverify.offer(scratch.run_id, "The rule is saved in the benchmark. This is what it changes:")
            st.rerun()
        st.caption("The run and its verdicts stay as they are, until you re-verify and save a new revision.")

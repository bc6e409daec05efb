"""What can be done in the cells of an answer: ask again, paste, edit values and rules, save a rule."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from karenina_core.authoring import form_of, replace_field
from karenina_core.errors import KareninaError, validation_message
from karenina_core.runs import Plan, Trial, carry_out, models_of, pasted, trial_plan, why_not
from karenina_core.schemas import rule_help, rule_title
from karenina_core.templates import FieldSpec, read_template
from pages.components import frame, services, session_keys
from pages.components.answer import reverify as answer_reverify
from pages.components.answer import review as answer_review
from pages.components.answer import rule_form as answer_rule_form
from pages.components.answer import scratch as answer_scratch
from pages.components.answer import values as answer_values
from pages.components.answer.cells import Tools
from pages.components.answer.scratch import Scratch
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.runs import spending
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


def _open(title: str, key: str, scratch: Scratch, draw: Callable[[Scratch, str], None]) -> None:
    """Draw a tool only while it is open, because some of them count what they would cost."""
    own = f"{key}_{scratch.generation}"
    with st.expander(title, icon=":material/edit:", on_change="rerun", key=f"{own}_open") as view:
        if view.open:
            with frame.guard():
                draw(scratch, own)


def _prompt(scratch: Scratch, key: str) -> None:
    store, stored = services.store(), scratch.stored
    answering, _ = models_of(store.runs.get(scratch.run_id).config, stored)
    if _refused(why_not(answering)):
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
        scratch.take(pasted(scratch.stored, text))
        st.rerun()


def _judge(scratch: Scratch, key: str) -> None:
    store, base = services.store(), scratch.base
    _, parsing = models_of(store.runs.get(scratch.run_id).config, base)
    if base.answer is None:
        st.caption("There is no answer to judge.")
        return
    if _refused(why_not(parsing)):
        return
    source = scratch.source or answer_scratch.source_of_today(scratch.run_id, base.question.id)
    trial = Trial(answer=base.answer.text, template=source, with_rubric=_with_rubric(scratch, key))
    _ask(scratch, trial, key, "Judge again")


def _refused(reason: str) -> bool:
    if reason:
        st.caption(f":material/block: {plain(reason)}")
    return bool(reason)


def _with_rubric(scratch: Scratch, key: str) -> bool:
    return scratch.stored.rubric.performed and st.checkbox(
        "Evaluate the rubric too, which takes further calls", key=f"{key}_rubric"
    )


def _ask(scratch: Scratch, trial: Trial, key: str, label: str) -> None:
    """Say what the calls take, and make them when that is agreed to."""
    plan = trial_plan(services.store(), scratch.run_id, scratch.base, trial)
    anew = st.checkbox("Ask anew, even where a reply to the very same prompt is known already", key=f"{key}_anew")
    found = spending.expected(plan)
    if anew and found is not None and found.cached:
        st.caption(f"The {found.cached} replies that are known already are asked for again.")
    agreed = spending.confirm(found, plan.config, key)
    if st.button(label, key=f"{key}_go", icon=":material/play_arrow:", disabled=not agreed):
        _carry_out(scratch, plan, anew)


def _carry_out(scratch: Scratch, plan: Plan, anew: bool) -> None:
    with st.spinner("Asking"):
        made = carry_out(services.store(), plan, scratch.base, keys=session_keys.source(), anew=anew)
    scratch.take(made)
    st.rerun()


def _values(scratch: Scratch, key: str) -> None:
    source = scratch.source or answer_scratch.source_of_today(scratch.run_id, scratch.stored.question.id)
    if source is None:
        st.caption("The question has no answer template.")
        return
    if scratch.base.answer is None:
        st.caption("There is no answer to judge.")
        return
    template = read_template(source)
    if not template.needs_judge:
        st.caption("Every field reads the answer itself; there is nothing for a judge to say.")
        return
    before = scratch.values if scratch.values is not None else (scratch.base.template and scratch.base.template.parsed)
    typed = answer_values.form(template, dict(before or {}), key)
    if typed is not None:
        template.validate_reply(typed)
        scratch.values = typed
        st.rerun()


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
        field = answer_rule_form.edit(item, key)
        now = next(one for one in read_template(source).spec.fields if one.name == item.name)
        return source if field == now else replace_field(source, item.name, field)
    except (KareninaError, ValueError) as error:
        problem = error if isinstance(error, KareninaError) else KareninaError(validation_message(error))
        frame.show_error(problem)
        return source


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

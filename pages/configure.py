"""Configure: which benchmark, which questions, which models and judges, how often; then run."""

from __future__ import annotations

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.runs import wanted
from pages.components import feedback, forms, frame, services
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.questions import subset as question_subset
from pages.components.runs import configuration, model_editor, spending

frame.begin(frame.CONFIGURE)
PILOT = 3

with frame.guard():
    feedback.show()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        row = benchmark_choice.choose()
        configuration.load_preset()
    # A copy of its own: a run must not see what is being edited elsewhere.
    benchmark: Benchmark = services.store().benchmarks.load(row.id)
    configuration.describe_rest()
    question_ids = question_subset.choose(row.id, benchmark)

    left, right = st.columns(2, gap="large")
    with left:
        caption = "They get the question, never its answer."
        answering = model_editor.edit("answering", "Models under test", caption, benchmark)
        for model in answering:
            if model.manual_traces is not None:
                ready = set(benchmark.get_finished_questions(ids_only=True))
                asked = None if question_ids is None else [name for name in question_ids if name in ready]
                model_editor.prepared_report(model.id, model.manual_traces, benchmark, asked)
    with right:
        judges = model_editor.edit("judge", "Judges", "They fill the templates and never see the truth.")
    configuration.settings()
    name = st.text_input("Run name", **configuration.field(f"name_{row.id}", row.name[:80]))
    paid = any(model.is_provider for model in (*answering, *judges))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        max_cost = spending.ask_limit() if paid else None
        configuration.ask_time()
    if not configuration.keep():
        st.caption("The prepared answers are too many to be kept with this form: after a reload, add them again.")

    if not answering or not judges:
        st.info("Add at least one model under test and one judge.", icon=":material/info:")
        st.stop()
    config = configuration.build(answering, judges, max_cost)
    configuration.save_preset(config)
    plan = wanted(benchmark, config, question_ids)
    configuration.describe(plan, row.id)
    if not plan.question_ids:
        configuration.nothing_to_run(row.id, everything=question_ids is None)
        st.stop()
    agreed = spending.confirm(spending.expected(plan), config)
    with st.container(horizontal=True):
        look = {"type": "primary", "disabled": not agreed}
        run_all, pilot = forms.button(f"Run all {plan.rows}", "play_arrow", "run_all", **look), False
        if len(plan.question_ids) > PILOT:
            look = {"disabled": not agreed, "help": "The others can be added to the same run; nothing is asked twice."}
            pilot = forms.button(f"Try {PILOT} questions", "science", "run_pilot", **look)
    if run_all or pilot:
        limit = PILOT if pilot else None
        run_id = services.start_run(row.id, benchmark, config, name or benchmark.name, limit, question_ids)
        frame.go(frame.MONITOR, run=run_id)

"""Configure: which benchmark, which questions, which models and judges, how often; then run."""

from __future__ import annotations

import streamlit as st

from karenina_core.benchmark import Benchmark
from karenina_core.runs import wanted
from pages.components import feedback, frame, services, state
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.questions import subset as question_subset
from pages.components.runs import configuration, model_editor, prepared, presets, spending
from pages.components.runs import settings as run_settings

frame.begin(frame.CONFIGURE)
PILOT = 3

with frame.guard():
    feedback.show()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        row = benchmark_choice.choose()
        presets.load()
    # A copy of its own: a run must not see what is being edited elsewhere.
    benchmark: Benchmark = services.store().benchmarks.load(row.id)
    presets.describe_rest()
    question_ids = question_subset.choose(row.id, benchmark)

    left, right = st.columns(2, gap="large")
    with left:
        answering = model_editor.edit(
            "answering", "Models under test", "They get the question, never its answer.", benchmark
        )
        for model in answering:
            if model.manual_traces is not None:
                ready = set(benchmark.get_finished_questions(ids_only=True))
                asked = None if question_ids is None else [name for name in question_ids if name in ready]
                prepared.report(model.id, model.manual_traces, benchmark, asked)
    with right:
        judges = model_editor.edit("judge", "Judges", "They fill the templates and never see the truth.")
    run_settings.draw()
    name = st.text_input("Run name", **configuration.field(f"name_{row.id}", row.name[:80]))
    paid = any(model.is_provider for model in (*answering, *judges))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        max_cost = spending.ask_limit() if paid else None
        run_settings.ask_time()
    if not configuration.keep():
        st.caption("The prepared answers are too many to be kept with this form: after a reload, add them again.")

    if not answering or not judges:
        st.info("Add at least one model under test and one judge.", icon=":material/info:")
        st.stop()
    config = configuration.build(answering, judges, max_cost)
    presets.save(config)
    plan = wanted(benchmark, config, question_ids)
    run_settings.describe(plan, row.id)
    if not plan.question_ids:
        run_settings.offer_questions(row.id, everything=question_ids is None)
        st.stop()
    agreed = spending.confirm(spending.expected(plan), config)
    with st.container(horizontal=True):
        run_all = st.button(
            f"Run all {plan.rows}",
            type="primary",
            icon=":material/play_arrow:",
            key="run_all",
            disabled=not agreed,
        )
        pilot = len(plan.question_ids) > PILOT and st.button(
            f"Try {PILOT} questions",
            icon=":material/science:",
            key="run_pilot",
            disabled=not agreed,
            help="The others can be added to the same run afterwards, and nothing is asked twice. What these take "
            "tells how long the others take.",
        )
    if run_all or pilot:
        run_id = services.start_run(
            row.id, benchmark, config, name or benchmark.name, PILOT if pilot else None, question_ids
        )
        state.choose("run", run_id)
        st.switch_page(frame.MONITOR, query_params={"run": run_id})

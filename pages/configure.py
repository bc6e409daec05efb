"""Configure: which benchmark, which models, which judges, how often; then run."""

from __future__ import annotations

import streamlit as st

from karenina_core.analysis.summary import counted
from karenina_core.benchmark import Benchmark
from karenina_core.runs import estimate, wanted
from karenina_core.schemas.config import VerificationConfig
from pages.components import frame, model_editor, services, spending, state
from pages.components.text import plain

frame.begin("Configure", "What is asked, who answers, who judges. Nothing is spent before you press run.")

with frame.guard():
    store = services.store()
    stored = {row.id: row for row in store.benchmarks()}
    if not stored:
        st.info("There is no benchmark yet. Upload one, or add the demo.", icon=":material/info:")
        if st.button("Go to benchmarks", type="primary", icon=":material/folder_open:"):
            st.switch_page(frame.BENCHMARKS)
        st.stop()
    chosen = state.selected("benchmark", stored) or next(iter(stored))
    benchmark_id = st.selectbox(
        "Benchmark",
        list(stored),
        index=list(stored).index(chosen),
        format_func=lambda key: (
            f"{stored[key].name} · {stored[key].finished_count} of {stored[key].question_count} questions ready"
        ),
        key=f"configure_benchmark_{chosen}",
    )
    if benchmark_id != chosen:
        state.choose("benchmark", benchmark_id)
        st.rerun()
    benchmark: Benchmark = store.load_benchmark(benchmark_id)

    left, right = st.columns(2, gap="large")
    with left:
        answering = model_editor.edit("answering", "Models under test", "They get the bare question.")
    with right:
        judges = model_editor.edit("judge", "Judges", "They fill the templates and never see the truth.")

    st.subheader("Settings")
    first, second, third = st.columns(3)
    replicates = first.number_input(
        "Repeats", 1, 100, 1, key="cfg_repeats", persist_state="session", help="How often every question is asked."
    )
    concurrency = second.number_input("Calls at once", 1, 200, 8, key="cfg_calls", persist_state="session")
    few = third.selectbox(
        "Rubrics",
        ["auto", "template_only", "rubric_only"],
        key="cfg_mode",
        persist_state="session",
        format_func={"auto": "when there are any", "template_only": "off", "rubric_only": "only rubrics"}.get,
    )
    with st.container(horizontal=True):
        abstention = st.toggle(
            "Notice declined answers",
            key="cfg_abstention",
            persist_state="session",
            help="One more judge call per answer.",
        )
        sufficiency = st.toggle(
            "Notice insufficient answers",
            key="cfg_sufficiency",
            persist_state="session",
            help="One more judge call per answer.",
        )
        embeddings = st.toggle(
            "Embedding check",
            key="cfg_embeddings",
            persist_state="session",
            help="Needed by SemanticMatch fields. Needs the embeddings extra; see Settings.",
        )
    name = st.text_input("Run name", value=f"{benchmark.name}"[:80], key=f"cfg_name_{benchmark_id}")

    if not answering or not judges:
        st.info("Add at least one model under test and one judge.", icon=":material/info:")
        st.stop()
    paid = any(model.transport == "litellm" for model in (*answering, *judges))
    max_cost = spending.ask_limit() if paid else None
    config = VerificationConfig(
        answering_models=answering,
        parsing_models=judges,
        replicate_count=int(replicates),
        max_concurrent_requests=int(concurrency),
        evaluation_mode=few,
        abstention_enabled=abstention,
        sufficiency_enabled=sufficiency,
        embedding_check_enabled=embeddings,
        max_cost=max_cost,
    )
    plan = wanted(benchmark, config)
    calls = plan.calls()
    st.markdown(
        f"**{counted(len(plan.question_ids), 'question')} × {counted(len(answering), 'model')} × "
        f"{counted(int(replicates), 'repeat')} = {counted(plan.answers, 'answer')}**, "
        f"and at most {counted(sum(calls.values()) - calls.get('answer', 0), 'judge call')}."
    )
    if plan.skipped:
        with st.expander(f"{len(plan.skipped)} questions will not run"):
            for skipped in plan.skipped[:50]:
                st.caption(
                    f"{plain(benchmark.get_question_as_object(skipped.question_id).question, 80)}: "
                    f"{plain(skipped.reason)}"
                )
    if not plan.question_ids:
        st.warning("No question would run. Mark questions as finished first.", title="Nothing to run")
        if st.button("Go to questions", type="primary"):
            st.switch_page(frame.QUESTIONS, query_params={"benchmark": benchmark_id})
        st.stop()
    problems = [problem for problem in benchmark.check() if problem.severity == "error"]
    if problems:
        with st.expander(f"{len(problems)} problems in the benchmark", icon=":material/warning:"):
            for problem in problems[:50]:
                st.caption(f"{plain(problem.where, 80)}: {plain(problem.what)} {plain(problem.next)}")
    agreed = spending.confirm(estimate(plan), config)
    with st.container(horizontal=True):
        run_all = st.button(
            f"Run all {plan.answers}",
            type="primary",
            icon=":material/play_arrow:",
            key="run_all",
            disabled=not agreed,
        )
        pilot = len(plan.question_ids) > 3 and st.button(
            "Try 3 questions", icon=":material/science:", key="run_pilot", disabled=not agreed
        )
    if run_all or pilot:
        run_id = services.start_run(benchmark_id, benchmark, config, name or benchmark.name, limit=3 if pilot else None)
        state.choose("run", run_id)
        st.switch_page(frame.MONITOR, query_params={"run": run_id})

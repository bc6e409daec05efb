"""The fields of a question, tab by tab."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from karenina_core.benchmark import Benchmark, BenchmarkQuestion
from pages.components.drafts import Draft
from pages.components.text import local_time, plain, short


def asked(draft: Draft, keywords: Sequence[str]) -> None:
    """Draw what is asked, what is true, and remarks on it.

    Args:
        draft: Of the question.
        keywords: All keywords of the benchmark, to choose from.
    """
    st.text_area("Question", **draft.text("question"), height=120, help="Sent to the model exactly as it is.")
    st.text_area(
        "Reference answer",
        **draft.text("raw_answer"),
        height=90,
        help="For people. Neither the model nor the judge sees it.",
    )
    st.multiselect(
        "Keywords",
        sorted({*keywords, *draft.values["keywords"]}, key=str.casefold),
        **draft.choice("keywords"),
        format_func=short,
        accept_new_options=True,
        placeholder="Choose or type; for filtering only",
    )
    st.text_area(
        "Notes",
        **draft.text("answer_notes"),
        height=90,
        help="Edge cases and remarks, such as what else is acceptable. Never sent to a model under test.",
    )


def examples(draft: Draft) -> None:
    """Draw the few-shot examples."""
    st.caption(
        "Questions with their answers that show the answering model the form and detail you want. They are sent before "
        "the question in runs for which Configure has “Few-shot examples” on, and never to the judge."
    )
    _rows(
        draft,
        "few_shot_examples",
        "Few-shot examples",
        {
            "question": st.column_config.TextColumn("Example question", width="medium", required=True),
            "answer": st.column_config.TextColumn("Example answer", width="medium", required=True),
        },
    )


def more(benchmark: Benchmark, question: BenchmarkQuestion, draft: Draft) -> None:
    """Draw author, sources, workspace and custom metadata."""
    _author(draft)
    st.markdown("**Sources of the answer**")
    _rows(
        draft,
        "sources",
        "Sources",
        {
            "name": st.column_config.TextColumn("Title or citation", width=170),
            "url": st.column_config.TextColumn("Link", width=150),
            "more": st.column_config.TextColumn("Other (JSON)", width=120, help="What else the file says of it"),
        },
    )
    st.text_input(
        "Workspace path",
        **draft.text("workspace_path"),
        placeholder="For agents: a folder such as task_01, below the workspace root",
        help="Relative to the workspace root, which is set where the benchmark is run and is not part of the file.",
    )
    st.markdown("**Custom metadata**")
    st.caption("A value is a text, or JSON: 5, true, null, [1, 2]. In double quotes it is always a text.")
    _rows(
        draft,
        "custom_metadata",
        "Custom metadata",
        {
            "name": st.column_config.TextColumn("Name", width="small", required=True),
            "value": st.column_config.TextColumn("Value", width="large"),
        },
    )
    made, changed = local_time(question.date_created), local_time(question.date_modified)
    later = "" if question.date_modified == question.date_created else f", changed {plain(changed)}"
    st.caption(f"Id {plain(question.id)} · made {plain(made)}{later}")


def _author(draft: Draft) -> None:
    with st.container(horizontal=True):
        st.text_input("Author", **draft.text("author_name"))
        st.text_input("E-mail", **draft.text("author_email"))
        st.text_input("Affiliation", **draft.text("author_affiliation"))
    st.text_input(
        "Other details of the author (JSON)",
        **draft.text("author_more"),
        placeholder='{"orcid": "0000-0001-2345-6789"}',
        help="What else the file says about the author. It is kept as it is.",
    )


def _rows(draft: Draft, name: str, alt: str, columns: dict[str, Any]) -> None:
    import pandas as pd

    rows, key = draft.table(name)
    st.data_editor(
        pd.DataFrame(rows, columns=list(columns), dtype="str"),
        hide_index=True,
        num_rows="dynamic",
        key=key,
        on_change=draft.take_over,
        alt=alt,
        height="content",
        column_config=columns,
    )

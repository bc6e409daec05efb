"""What the judge gets: the schema and the prompt of a run, built by the same code."""

from __future__ import annotations

import streamlit as st

from karenina_core.pipeline import judge_view
from karenina_core.runs import JudgedAnswer
from karenina_core.schemas import ModelConfig, VerificationConfig
from karenina_core.templates import Template
from pages.components import services
from pages.components.drafts import Draft
from pages.components.templates import answers as template_answers
from pages.components.text import visible, visible_data

_SAMPLE = "The response of the model under test stands here."


def draw(draft: Draft, question_id: str, template: Template) -> None:
    """Draw the judge's view of a template."""
    if not template.needs_judge:
        st.caption("Nothing: every field is decided from the text of the response, so no judge is asked.")
        return
    st.caption(
        "The question, the response and this schema, exactly as a run sends them. Never the truth, the rules or the "
        "reference answer."
    )
    chosen = template_answers.choose(question_id, "A sample response", "judge_answer")
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
    config = services.store().runs.get(chosen.run_id).config
    judge = next((model for model in config.parsing_models if model.id == chosen.parsing_model), None)
    return config, judge

"""One evaluation as a Jupyter notebook that runs: the cells of the answer page, decided again by `karenina_core`.

The cells are those of `notebook.json`; the first code cell gets the evaluation. Everything foreign is data: a JSON
text inside a string literal, which `json.loads` reads. No cell holds foreign code or foreign Markdown, and the answer
template is read by `karenina_core`, never imported.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import resources
from typing import Any

from karenina_core.analysis.cells import clean_json, redactor
from karenina_core.files import json_bytes, read_json
from karenina_core.schemas import Annotation, VerificationResult


def to_notebook(result: VerificationResult, template: str | None = None, reviews: Iterable[Annotation] = ()) -> bytes:
    """Return an evaluation as a notebook (nbformat 4.5).

    Args:
        result: The evaluation.
        template: Source of the answer template that decided it; None where there was none.
        reviews: What people said about it.
    """
    notebook = read_json(resources.files(__package__).joinpath("notebook.json").read_bytes())
    data = json.dumps(clean_json(_data(result, template, reviews), redactor()), allow_nan=False)
    # A literal in ASCII: nothing in it can end it.
    notebook["cells"][1]["source"] = ["import json\n", "\n", f"DATA = json.loads({json.dumps(data)})"]
    return json_bytes(notebook)


def _data(result: VerificationResult, template: str | None, reviews: Iterable[Annotation]) -> dict[str, Any]:
    part, call = result.template, result.answer.call if result.answer else None
    fields = part.fields if part else []
    prompt = call.messages if call and call.messages else [{"role": "user", "content": result.question.question}]
    return {
        "question_id": result.question.id,
        "question": result.question.question,
        "answering_model": result.answering_model,
        "parsing_model": result.parsing_model,
        "replicate": result.replicate,
        "prompt": prompt,
        "answer": result.answer.text if result.answer else None,
        "template": template,
        "replies": [call.reply for call in part.calls if call.reply] if part else [],
        "values": part.model_dump(mode="json", include={"parsed"}, fallback=str)["parsed"] if part else None,
        "similarities": {item.name: item.similarity for item in fields if item.similarity is not None},
        "failure": result.failure.reason if result.failure else None,
        "verdict": result.verdict,
        "rubric": result.rubric.model_dump(mode="json", exclude={"calls"}, fallback=str),
        "reviews": [review.model_dump(mode="json") for review in reviews],
    }

"""One evaluation as a Jupyter notebook that runs: the cells of the answer page, decided again by `karenina_core`.

Everything foreign is data: a JSON text inside a string literal, which `json.loads` reads. No cell holds foreign code
or foreign Markdown, and the answer template is read by `karenina_core`, never imported.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from textwrap import dedent
from typing import Any

from karenina_core.analysis.cells import clean_json, redactor
from karenina_core.files import json_bytes
from karenina_core.schemas import Annotation, VerificationResult

MIME = "application/x-ipynb+json"
_INTRODUCTION = """\
# One evaluation, step by step

Each cell below is a step of the evaluation: what the model was asked, what it answered, what the judge saw and
extracted, and how the rules decided. Run all cells: the verdict is decided anew, by the same rules, without any model
and without any key. Change `answer`, `values` or `source` and run the cells below to see what would happen.

It needs `karenina_core` (`pip install karenina-workbench`, or the folder it was exported from).
"""
_STEPS: tuple[tuple[str, str], ...] = (
    (
        "## 1 · Prompt\n\nWhat the model under test was sent.",
        """\
        for message in DATA["prompt"]:
            print(f"[{message['role']}]\\n{message['content']}\\n")
        """,
    ),
    (
        "## 2 · Answer\n\nWhat it replied.",
        """\
        answer = DATA["answer"]
        print(answer)
        """,
    ),
    (
        "## 3 · Judge\n\nWhat the judge was asked to fill in. It never sees the truth.",
        """\
        from karenina_core.errors import KareninaError
        from karenina_core.templates import read_template

        source = DATA["template"]
        template = None
        try:
            template = read_template(source) if source else None
        except KareninaError as error:
            print("The template cannot be read:", error)
        if template:
            print(json.dumps(template.judge_schema(), indent=2))
        for reply in DATA["replies"]:
            print("\\nreply:", reply)
        """,
    ),
    (
        "## 4 · Extraction\n\nThe values by field. Change one to see what the rules would say.",
        """\
        values = DATA["values"]
        print(json.dumps(values, indent=2, ensure_ascii=False))
        """,
    ),
    (
        "## 5 · Verdict\n\nDecided by code: the same values always give the same verdict.",
        """\
        def decide(template, values, answer):
            \"\"\"Return the verdict, and print how every field was decided.\"\"\"
            evaluation = template.evaluate(values, answer)
            known = {name: DATA["similarities"][name] for name in evaluation.pending if name in DATA["similarities"]}
            rules = {item.name: item.rule for item in evaluation.fields}
            decided = {name: (value >= rules[name]["threshold"], value) for name, value in known.items()}
            if decided:
                evaluation = template.complete(evaluation, decided)
            for item in evaluation.fields:
                print(f"{item.name}: {item.result} | expected {item.expected!r}, extracted {item.extracted!r}")
                for label, before, after in item.steps:
                    print(f"    {label}: {before} -> {after}")
                if item.reason:
                    print(f"    {item.reason}")
            return {True: "pass", False: "fail", None: "not_evaluated"}[evaluation.verdict]


        if DATA["failure"] or template is None or answer is None or values is None:
            verdict = DATA["verdict"]
            print(DATA["failure"] or "There was nothing to decide.")
        else:
            verdict = decide(template, values, answer)
        print("\\nverdict:", verdict)
        print("stored verdict:", DATA["verdict"])
        """,
    ),
    (
        "## 6 · Rubric\n\nQualities of the answer; they change no verdict.",
        """\
        print(json.dumps(DATA["rubric"], indent=2, ensure_ascii=False))
        """,
    ),
    (
        "## 7 · Review\n\nWhat people said about this result.",
        """\
        for review in DATA["reviews"]:
            print(json.dumps(review, ensure_ascii=False))
        """,
    ),
)


def to_notebook(result: VerificationResult, template: str | None = None, reviews: Iterable[Annotation] = ()) -> bytes:
    """Return an evaluation as a notebook (nbformat 4.5).

    Args:
        result: The evaluation.
        template: Source of the answer template that decided it; None where there was none.
        reviews: What people said about it.
    """
    data = clean_json(_data(result, template, reviews), redactor())
    cells = [_markdown(0, _INTRODUCTION), _code(0, f"import json\n\nDATA = json.loads({_literal(data)})\n")]
    for number, (title, source) in enumerate(_STEPS, 1):
        cells += [_markdown(number, title), _code(number, dedent(source))]
    notebook = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json_bytes(notebook)


def _data(result: VerificationResult, template: str | None, reviews: Iterable[Annotation]) -> dict[str, Any]:
    part, call = result.template, result.answer.call if result.answer else None
    fields = part.fields if part else []
    prompt = call.messages if call and call.messages else [{"role": "user", "content": result.question.question}]
    rubric = result.rubric.model_dump(mode="json", exclude={"calls"}, fallback=str)
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
        "rubric": rubric,
        "reviews": [review.model_dump(mode="json") for review in reviews],
    }


def _literal(data: Any) -> str:
    """Return data as a Python string literal of its JSON text, in ASCII: nothing in it can end the literal."""
    return json.dumps(json.dumps(data, ensure_ascii=True, allow_nan=False), ensure_ascii=True)


def _markdown(number: int, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": f"text-{number}", "metadata": {}, "source": _lines(source)}


def _code(number: int, source: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": f"step-{number}",
        "metadata": {},
        "outputs": [],
        "source": _lines(source),
    }


def _lines(source: str) -> list[str]:
    return source.strip("\n").splitlines(keepends=True)

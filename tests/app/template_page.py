"""A page with nothing on it but the editor of a template."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.app.conftest import healthy

QUESTION = "What is the approved target of venetoclax?"


def _page(source: str, question: str, raw_answer: str) -> None:
    from karenina_core.benchmark import Benchmark
    from karenina_core.runs import BenchmarkRow
    from pages.components import drafts, feedback, services
    from pages.components.templates import editor as template_editor

    drafts.collect()
    feedback.show()
    store = services.store()
    if not store.benchmarks.all():
        new = Benchmark.create("Small")
        new.add_question(question, raw_answer)
        store.benchmarks.save(new)
    row: BenchmarkRow = store.benchmarks.all()[0]
    benchmark = store.benchmarks.load(row.id)
    stored = next(item for item in benchmark.get_all_questions() if item.question == question)
    values = {"question": question, "raw_answer": raw_answer, "answer_notes": "", "answer_template": source}
    template_editor.draw(row, benchmark, stored, drafts.draft_of(f"{row.id}/question/{stored.id}", values))


def template_page(source: str, question: str = QUESTION, raw_answer: str = "BCL2") -> AppTest:
    """Open the editor with a template as a fresh session; edits of an earlier session are there again."""
    return healthy(AppTest.from_function(_page, args=(source, question, raw_answer), default_timeout=30).run())

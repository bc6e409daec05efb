"""The revisions of a run: the run itself, and what verifying its answers again has made of it.

A revision is a run with a parent. It has the answers and extractions of the parent, a copy of the benchmark whose
rules decided, and verdicts of its own; so it can be read, compared and exported like every run, and the verdicts of
its parent stay readable for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from karenina_core.differences import line_diff
from karenina_core.runs.store import RunRow, Store


@dataclass(frozen=True)
class Revision:
    """One of the revisions of a run.

    Attributes:
        number: Counts from 1, which is the run that was carried out first.
        run: The run that holds it.
    """

    number: int
    run: RunRow


def revisions(store: Store, run_id: str) -> list[Revision]:
    """Return all revisions of the run that a run belongs to, the oldest first; deleted ones are left out.

    Raises:
        InputError: There is no such run.
    """
    known = {run.id: run for run in store.runs.all()}
    first = store.runs.get(run_id)
    while first.parent_run is not None and first.parent_run in known:
        first = known[first.parent_run]
    family, size = {first.id}, 0
    while size < len(family):
        size = len(family)
        family |= {run.id for run in known.values() if run.parent_run in family}
    later = sorted((known[name] for name in family - {first.id}), key=lambda run: (run.created, run.id))
    return [Revision(number, run) for number, run in enumerate([first, *later], 1)]


MOST_TEMPLATES = 200
"""So many changed templates of two runs are compared line by line; in more, nobody reads the differences."""


class ChangedTemplates(NamedTuple):
    """How the templates of two runs differ.

    Attributes:
        differences: By question text the lines that changed, of the first `MOST_TEMPLATES` templates.
        total: How many templates changed.
    """

    differences: dict[str, str]
    total: int


def template_differences(store: Store, before_run: str, after_run: str) -> ChangedTemplates:
    """Return how the templates of the second of two runs differ from those of the first, line by line.

    Raises:
        InputError: There is no such run.
    """
    names = changed_templates(store, before_run, after_run)
    if not names:
        return ChangedTemplates({}, 0)
    before, after = store.runs.plan(before_run).benchmark, store.runs.plan(after_run).benchmark
    differences = {
        after.get_question(name).question: line_diff(before.get_template(name) or "", after.get_template(name) or "")
        for name in names[:MOST_TEMPLATES]
    }
    return ChangedTemplates(differences, len(names))


def changed_templates(store: Store, before_run: str, after_run: str) -> list[str]:
    """Return the questions whose template is another one in the second of two runs, in its order.

    Raises:
        InputError: There is no such run.
    """
    if store.runs.get(before_run).snapshot == store.runs.get(after_run).snapshot:
        return []
    before, after = store.runs.plan(before_run).benchmark, store.runs.plan(after_run).benchmark
    return [
        name
        for name in after.get_question_ids()
        if name in before and before.get_template(name) != after.get_template(name)
    ]

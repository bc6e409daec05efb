from __future__ import annotations

import pytest

from karenina_core.runs import Store, reverify, revisions, template_differences, wanted
from karenina_core.runs.revisions import family as run_revisions
from karenina_core.runs.revisions.family import changed_templates
from tests.runs.elements import elements, template
from tests.runs.fakes import plain_result, small_config


def first_run(store: Store) -> str:
    run_id = store.runs.create(wanted(elements(), small_config()), "First")
    store.results.save(run_id, [plain_result("gold", verdict="fail")])
    return run_id


def test_a_run_is_its_own_first_revision(store: Store) -> None:
    run_id = first_run(store)
    assert [(item.number, item.run.id) for item in revisions(store, run_id)] == [(1, run_id)]


def test_every_member_of_a_family_knows_the_whole_of_it(store: Store) -> None:
    first = first_run(store)
    second = reverify(store, first, elements())
    third = reverify(store, second, elements())
    store.runs.create(wanted(elements(), small_config()), "Somebody else's")
    for one in (first, second, third):
        assert [item.run.id for item in revisions(store, one)] == [first, second, third]
    assert [item.run.name for item in revisions(store, first)] == [
        "First",
        "First (re-verified)",
        "First (re-verified 2)",
    ]


def test_deleted_revisions_are_left_out(store: Store) -> None:
    first = first_run(store)
    second = reverify(store, first, elements())
    store.runs.delete(second)
    assert [item.run.id for item in revisions(store, first)] == [first]


def test_changed_templates_are_named(store: Store) -> None:
    first = first_run(store)
    benchmark = elements()
    assert changed_templates(store, first, reverify(store, first, benchmark)) == []
    benchmark.update_template("iron", template("Fe", ("lowercase",)))
    assert changed_templates(store, first, reverify(store, first, benchmark)) == ["iron"]


def test_differences_of_templates_are_shown_line_by_line(store: Store) -> None:
    first, benchmark = first_run(store), elements()
    benchmark.update_template("iron", template("Fe", ("lowercase",)))
    found = template_differences(store, first, reverify(store, first, benchmark))
    assert found.total == 1
    [difference] = found.differences.values()
    assert "+" in difference and "lowercase" in difference


def test_only_so_many_templates_are_compared_and_all_are_counted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_revisions, "MOST_TEMPLATES", 1)
    first, benchmark = first_run(store), elements()
    for question in ("iron", "gold"):
        benchmark.update_template(question, template("Fe", ("lowercase",)))
    found = template_differences(store, first, reverify(store, first, benchmark))
    assert (len(found.differences), found.total) == (1, 2)

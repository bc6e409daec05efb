from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from karenina_core.runs.engine.collector import _Quiet


@pytest.fixture
def quiet() -> Iterator[_Quiet]:
    usual = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield _Quiet()
    gc.set_threshold(*usual)
    gc.unfreeze()


def test_garbage_is_searched_less_often_while_a_run_is_carried_out(quiet: _Quiet) -> None:
    quiet.begin()
    assert gc.get_threshold()[0] > 700
    quiet.end()
    assert gc.get_threshold() == (700, 10, 10)


def test_the_usual_settings_return_with_the_last_run(quiet: _Quiet) -> None:
    quiet.begin()
    quiet.begin()
    quiet.end()
    assert gc.get_threshold()[0] > 700
    quiet.end()
    assert gc.get_threshold() == (700, 10, 10)


def test_who_has_switched_the_search_off_finds_it_off(quiet: _Quiet) -> None:
    gc.set_threshold(0, 10, 10)
    quiet.begin()
    assert gc.get_threshold()[0] == 0
    quiet.end()
    assert gc.get_threshold()[0] == 0

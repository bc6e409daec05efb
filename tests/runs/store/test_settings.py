from __future__ import annotations

import math

from karenina_core.runs.store import Store


def test_a_setting_is_remembered_and_replaced(any_store: Store) -> None:
    any_store.set_setting("preset/fast", {"replicate_count": 1})
    any_store.set_setting("preset/fast", {"replicate_count": 3})
    assert any_store.setting("preset/fast") == {"replicate_count": 3}


def test_an_unknown_setting_has_the_default(store: Store) -> None:
    assert store.setting("theme", "light") == "light"


def test_null_is_a_value(store: Store) -> None:
    store.set_setting("chosen", None)
    assert store.setting("chosen", "something") is None


def test_settings_are_found_by_prefix_literally(store: Store) -> None:
    for key in ("draft/q1", "draft/q2", "draft_other"):
        store.set_setting(key, key)
    assert list(store.settings("draft/")) == ["draft/q1", "draft/q2"]
    assert list(store.settings("draft_")) == ["draft_other"]


def test_a_setting_can_be_forgotten(store: Store) -> None:
    store.set_setting("theme", "dark")
    store.remove_setting("theme")
    assert store.settings() == {}


def test_what_no_database_stores_is_cleaned(any_store: Store) -> None:
    any_store.set_setting("odd", {"text": "a\0b\ud800", "number": math.nan})
    assert any_store.setting("odd") == {"text": "a\ufffdb\ufffd", "number": None}

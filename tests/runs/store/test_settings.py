from __future__ import annotations

import math

import pytest

from karenina_core.errors import InputError
from karenina_core.models import Price
from karenina_core.runs import Store
from karenina_core.schemas import ModelConfig
from tests.runs.fakes import small_config


def test_a_setting_is_remembered_and_replaced(any_store: Store) -> None:
    any_store.settings.set("preset/fast", {"replicate_count": 1})
    any_store.settings.set("preset/fast", {"replicate_count": 3})
    assert any_store.settings.get("preset/fast") == {"replicate_count": 3}


def test_an_unknown_setting_has_the_default(store: Store) -> None:
    assert store.settings.get("theme", "light") == "light"


def test_null_is_a_value(store: Store) -> None:
    store.settings.set("chosen", None)
    assert store.settings.get("chosen", "something") is None


def test_settings_are_found_by_prefix_literally(store: Store) -> None:
    for key in ("draft/q1", "draft/q2", "draft_other"):
        store.settings.set(key, key)
    assert list(store.settings.all("draft/")) == ["draft/q1", "draft/q2"]
    assert list(store.settings.all("draft_")) == ["draft_other"]


def test_a_setting_can_be_forgotten(store: Store) -> None:
    store.settings.set("theme", "dark")
    store.settings.remove("theme")
    assert store.settings.all() == {}


def test_what_no_database_stores_is_cleaned(any_store: Store) -> None:
    any_store.settings.set("odd", {"text": "a\0b\ud800", "number": math.nan})
    assert any_store.settings.get("odd") == {"text": "a\ufffdb\ufffd", "number": None}


# Presets and prices


def test_a_preset_is_found_again_by_its_name(any_store: Store) -> None:
    any_store.settings.save_preset("Two judges", small_config(1, 2))
    any_store.settings.save_preset("a quick look", small_config())
    any_store.settings.save_preset("Two judges", small_config(1, 3))
    assert list(any_store.settings.presets()) == ["a quick look", "Two judges"]
    assert any_store.settings.preset("Two judges") == small_config(1, 3)
    any_store.settings.delete_preset("Two judges")
    with pytest.raises(InputError, match="no preset 'Two judges'"):
        any_store.settings.preset("Two judges")


def test_a_preset_holds_no_prepared_answers_and_no_key(store: Store) -> None:
    notes = ModelConfig(interface="manual", model_name="notes", manual_traces={"q1": "A private answer"})
    keyed = ModelConfig(model_name="openai/gpt-4.1-mini", api_key_env="OPENAI_API_KEY")
    store.settings.save_preset("Notes", small_config().model_copy(update={"answering_models": [notes, keyed]}))
    assert "private" not in str(store.settings.all())
    assert store.settings.preset("Notes").answering_models[1].api_key_env == "OPENAI_API_KEY"


def test_a_preset_needs_a_name(store: Store) -> None:
    with pytest.raises(InputError, match="needs a name"):
        store.settings.save_preset("  ", small_config())


def test_prices_are_set_one_by_one_and_taken_back(any_store: Store) -> None:
    any_store.settings.set_prices({"lab/a": Price(1e-6, 2e-6)})
    any_store.settings.set_prices({"lab/b": Price(0, 0)})
    assert any_store.settings.prices() == {"lab/a": Price(1e-6, 2e-6), "lab/b": Price(0, 0)}
    any_store.settings.set_prices({"lab/a": None})
    assert list(any_store.settings.prices()) == ["lab/b"]


@pytest.mark.parametrize("wrong", [-1.0, math.nan])
def test_a_price_below_zero_is_refused(store: Store, wrong: float) -> None:
    with pytest.raises(InputError, match="'lab/a'"):
        store.settings.set_prices({"lab/a": Price(wrong, 1.0)})

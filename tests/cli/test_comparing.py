"""`karenina compare`, as a user types it."""

from __future__ import annotations

import json

import pytest

from karenina_core.cli import main
from karenina_core.runs import Store, wanted
from tests.runs.fakes import plain_result, small_benchmark, small_config

Output = pytest.CaptureFixture[str]


def run(name: str, *verdicts: str) -> str:
    """Store a run of one model per text; a letter is a question, `+` or `-`."""
    store = Store.open()
    config = small_config(len(verdicts))
    run_id = store.runs.create(wanted(small_benchmark(len(verdicts[0])), config), name)
    results = [
        plain_result(f"q{place}", f"lab/model-{model}", verdict="pass" if letter == "+" else "fail")
        for model, letters in enumerate(verdicts, 1)
        for place, letter in enumerate(letters, 1)
    ]
    store.results.save(run_id, results)
    store.close()
    return run_id


def test_models_of_a_run_are_compared_in_sentences(capsys: Output) -> None:
    run("Both", "-" * 8, "+" * 8)
    assert main(["compare", "Both"]) == 0
    printed = capsys.readouterr().out
    assert "lab/model-2 is better than lab/model-1: right on 8 against 0 of 8 matched questions" in printed


def test_baseline_and_candidate_can_be_named(capsys: Output) -> None:
    run("Three", "-" * 8, "+" * 8, "+" * 8)
    assert main(["compare", "Three", "--baseline", "lab/model-2", "--candidate", "lab/model-3", "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert (row["baseline"], row["candidate"], row["difference"], row["low"]) == ("lab/model-2", "lab/model-3", 0, None)
    assert "do equally well on all 8 matched questions" in row["sentence"]


def test_two_runs_are_compared_by_their_names(capsys: Output) -> None:
    run("Before", "-" * 8)
    run("After", "+" * 8)
    assert main(["compare", "Before", "After"]) == 0
    assert "lab/model-1 · After is better than lab/model-1 · Before" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["One"], "takes two models at least"),
        (["Two", "--baseline", "nobody"], "There is no model 'nobody'"),
        (["One", "Two", "--baseline", "lab/model-1"], "Several models have that name"),
        (["None"], "There is no run 'None'"),
    ],
)
def test_what_cannot_be_compared_is_said(arguments: list[str], said: str, capsys: Output) -> None:
    run("One", "+-")
    run("Two", "+-", "-+")
    assert main(["compare", *arguments]) == 2
    assert said in capsys.readouterr().err

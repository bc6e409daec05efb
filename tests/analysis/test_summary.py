import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karenina_core.analysis import judge_sentences, left_out_sentences, model_sentences, percent
from karenina_core.analysis.summary import cost_sentence, counted, headline
from karenina_core.schemas import AnswerPart, TemplatePart


def test_one_model_is_told_with_its_interval(run):
    assert headline(run("++++++++----0")) == (
        "Sample A: 8 of 12 right (67 %, 95 % interval 39–86 %), 1 not evaluated (1 error)"
    )


def test_several_models_are_counted_and_then_told_apart(run):
    results = [*run("+++++", "Sample A"), *run("----0", "Sample B")]
    assert headline(results) == "10 results of 2 models on 5 questions: 5 right, 4 wrong, 1 not evaluated"
    assert model_sentences(results) == [
        "Sample A: 5 of 5 right (100 %, 95 % interval 57–100 %)",
        "Sample B: 0 of 4 right (0 %, 95 % interval 0–49 %, too few to tell), 1 not evaluated (1 error)",
    ]


def test_several_judges_are_told_apart(run):
    results = [*run("+++++", parsing_model="J1"), *run("-----", parsing_model="J2")]
    assert [sentence.split(":")[0] for sentence in model_sentences(results)] == [
        "Sample A, judged by J1",
        "Sample A, judged by J2",
    ]


def test_repetitions_are_said(run):
    results = [*run("+++++"), *run("+++++", replicate=2)]
    assert headline(results).startswith(
        "Sample A: 10 of 10 right (100 %, 95 % interval 57–100 %, 5 questions repeated)"
    )


def test_nothing_evaluated_is_no_zero_per_cent(run):
    assert headline(run("00")) == "Sample A: none of 2 evaluated (2 errors)"


def test_no_results_are_said():
    assert headline([]) == "No results yet."
    assert model_sentences([]) == [] and left_out_sentences([]) == []


def test_what_was_left_out_is_said_with_an_example(run, result):
    rubric_only = result("Other?", verdict="not_evaluated", failure=None)
    assert left_out_sentences([*run("00+"), rubric_only]) == [
        "2 × the model took too long: The model took longer than 120 s.",
        "1 × only the rubric was evaluated",
    ]


def test_one_of_several_reasons_is_told_as_an_example(result):
    failures = [{"category": "abstention", "stage": "abstention_check", "reason": f"Reason {n}."} for n in (1, 2)]
    results = [result(f"Q{n}?", verdict="not_evaluated", failure=failure) for n, failure in enumerate(failures)]
    assert left_out_sentences(results) == ["2 × the model declined to answer; for example: Reason 1."]


def test_a_model_that_judged_itself_is_named(run):
    results = [*run("++", "Sample A", parsing_model="Sample A"), *run("++", "Sample B", parsing_model="Sample A")]
    assert judge_sentences(results) == ["Sample A: this model judged itself, so its mistakes may go unnoticed."]


def test_the_demo_judge_is_named(result, call):
    by_demo = call(provenance={"note": "demo judge, 13 of 20 extractions right"})
    part = TemplatePart(template_id="t", style="declarative", calls=[by_demo])
    [sentence] = judge_sentences([result("Q?", parsing_model="local", template=part)])
    assert sentence.startswith("local: the demo judge")


def test_what_a_run_took_is_said(result, call):
    priced, free = call(), call(key="k2", usage={"input_tokens": 2_000})
    results = [result(f"Q{n}?", answer=AnswerPart(text="x", call=one)) for n, one in enumerate((priced, free))]
    assert cost_sentence(results) == "2 model calls, 2,100 tokens in, 20 out, $0.0020 and 1 call of unknown price"
    assert cost_sentence(results[1:]).endswith("cost not known")
    assert cost_sentence([]) == "No model was called."


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0 %"), (0.001, "<1 %"), (0.5, "50 %"), (0.994, "99 %"), (0.999, ">99 %"), (1, "100 %")]
)
def test_rounding_never_claims_all_or_none(share, text):
    assert percent(share) == text


def test_nouns_are_counted():
    assert [counted(n, "question") for n in (1, 0, 1200)] == ["1 question", "0 questions", "1,200 questions"]


@settings(deadline=None)
@given(verdicts=st.text("+-0", min_size=1, max_size=20))
def test_every_result_is_somewhere_in_the_headline(run, verdicts):
    sentence = headline(run(verdicts))
    evaluated = len(verdicts) - verdicts.count("0")
    expected = f"{verdicts.count('+')} of {evaluated} right" if evaluated else f"none of {len(verdicts)} evaluated"
    assert expected in sentence

"""The documented rubric examples, with only the import root renamed."""

from __future__ import annotations

from pathlib import Path

import pytest

from karenina_core import Benchmark
from karenina_core.schemas import (
    ManualRubricTrait,
    MetricRubricTrait,
    ModelConfig,
    Rubric,
    RubricTrait,
    VerificationConfig,
)
from tests.faults.openai_server import OpenAIServer
from tests.seeds.scripted_provider import reply_to


def test_the_three_kinds_of_traits() -> None:
    RubricTrait(
        name="Conciseness",
        description="Rate the conciseness of the answer on a scale from 1 (very verbose) to 5 (extremely concise).",
        kind="score",  # or "binary"
    )
    ManualRubricTrait(
        name="Contains BH3",
        description="Answer must mention BH3 proteins",
        pattern=r"\bBH3\b",
        case_sensitive=False,
        invert=False,
    )
    trait = MetricRubricTrait(
        name="Disease Classification",
        description="Evaluate accuracy of identifying inflammatory diseases",
        metrics=["precision", "recall", "f1"],
        tp_instructions=["asthma", "bronchitis", "pneumonia"],
        fp_instructions=["emphysema", "pulmonary fibrosis"],
    )
    assert trait.repeated_extraction is True


def test_the_mode_follows_from_the_instructions() -> None:
    trait1 = MetricRubricTrait(
        name="Disease Identification",
        metrics=["precision", "recall", "f1"],
        tp_instructions=["asthma", "bronchitis"],
        fp_instructions=["emphysema"],
    )
    trait2 = MetricRubricTrait(
        name="Disease Classification",
        metrics=["precision", "recall", "f1", "accuracy"],
        tp_instructions=["asthma", "bronchitis"],
        tn_instructions=["emphysema", "sarcoidosis"],
    )
    assert trait1.evaluation_mode == "tp_only"
    assert trait2.evaluation_mode == "full_matrix"


def test_the_large_classification_example() -> None:
    trait = MetricRubricTrait(
        name="Inflammatory vs Non-Inflammatory Classification",
        description="Classify diseases as inflammatory or non-inflammatory",
        metrics=["precision", "recall", "f1", "accuracy", "specificity"],
        tp_instructions=["asthma", "bronchitis", "pneumonia", "pleurisy"],
        tn_instructions=["emphysema", "pulmonary fibrosis", "sarcoidosis", "lung cancer", "tuberculosis"],
        fp_instructions=["emphysema", "sarcoidosis"],
        fn_instructions=["bronchitis", "pleurisy"],
    )
    assert trait.evaluation_mode == "full_matrix"


def test_accuracy_needs_true_negatives() -> None:
    with pytest.raises(ValueError, match="accuracy cannot be computed in tp_only mode"):
        MetricRubricTrait(name="x", metrics=["accuracy"], tp_instructions=["asthma"])


def test_the_complete_example(
    tmp_path: Path, openai_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    openai_server.script = reply_to
    monkeypatch.setenv("OPENAI_API_BASE", openai_server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key")
    monkeypatch.setenv("KARENINA_DATABASE_URL", f"sqlite:///{tmp_path / 'karenina.db'}")
    monkeypatch.chdir(tmp_path)

    # 1. Create benchmark
    benchmark = Benchmark.create(
        name="Genomics Knowledge Benchmark",
        description="Testing LLM knowledge of genomics and molecular biology",
        version="1.0.0",
    )

    # 2. Create global rubric (applies to ALL questions)
    global_rubric = Rubric(
        name="General Quality Assessment",
        traits=[
            RubricTrait(
                name="Conciseness",
                description="Rate the conciseness of the answer on a scale "
                "from 1 (very verbose) to 5 (extremely concise).",
                kind="score",
            ),
            RubricTrait(
                name="Clarity",
                description="Rate how clear and understandable the answer is, from 1 (confusing) to 5 (crystal clear).",
                kind="score",
            ),
        ],
    )
    benchmark.set_global_rubric(global_rubric)

    # 3. Add question with only global rubric
    benchmark.add_question(question="How many chromosomes are in a human somatic cell?", raw_answer="46")

    # 4. Add question with regex-based question-specific rubric
    venetoclax_rubric = Rubric(
        name="Drug Mechanism Validation",
        traits=[
            ManualRubricTrait(
                name="Mentions BH3 Proteins",
                description="Answer must mention BH3 proteins",
                pattern=r"\bBH3\b",
                case_sensitive=False,
            )
        ],
    )
    benchmark.add_question(
        question="What is the approved drug target of Venetoclax?", raw_answer="BCL2", rubric=venetoclax_rubric
    )

    # 5. Add question with metric-based question-specific rubric
    disease_rubric = Rubric(
        name="Inflammatory Disease Classification",
        traits=[
            MetricRubricTrait(
                name="Inflammatory Disease Accuracy",
                description="Evaluate accuracy of identifying inflammatory lung diseases",
                metrics=["precision", "recall", "f1"],
                tp_instructions=["asthma", "bronchitis", "pneumonia", "pleurisy"],
                fp_instructions=["emphysema", "pulmonary fibrosis", "sarcoidosis"],
            )
        ],
    )
    benchmark.add_question(
        question="Which of the following are inflammatory lung diseases: asthma, bronchitis, pneumonia, emphysema, "
        "pulmonary fibrosis, sarcoidosis, pleurisy?",
        raw_answer="asthma, bronchitis, pneumonia, pleurisy",
        rubric=disease_rubric,
    )

    # 6. Generate templates
    model_config = ModelConfig(
        id="gpt-4.1-mini",
        model_provider="openai",
        model_name="gpt-4.1-mini",
        temperature=0.1,
        interface="langchain",
    )
    benchmark.generate_all_templates(model_config=model_config)
    assert all(benchmark.has_template(question_id) for question_id in benchmark.get_question_ids())

    # 7. Run verification with rubrics
    config = VerificationConfig(answering_models=[model_config], parsing_models=[model_config])
    results = benchmark.run_verification(config)

    # 8. Analyze results
    assert len(results) == 3
    print_results(results)
    printed = capsys.readouterr().out
    assert "Question: How many chromosomes are in a human somatic cell?" in printed
    assert "Conciseness: 4/5" in printed
    assert "Mentions BH3 Proteins: ✓ Pass" in printed
    assert "precision: 1.00" in printed
    assert "recall: 0.75" in printed
    assert "f1: 0.86" in printed
    assert [result.verdict for result in results] == ["pass", "pass", "pass"]

    # 9. Save benchmark
    benchmark.save("genomics_benchmark.jsonld")
    assert len(Benchmark.load(tmp_path / "genomics_benchmark.jsonld")) == 3


def print_results(results: object) -> None:
    for result in results:  # type: ignore[attr-defined]
        print(f"\nQuestion: {result.question.question}")

        if result.rubric_scores:
            print("  Global Rubric Scores:")
            for trait_name, score in result.rubric_scores.items():
                print(f"    {trait_name}: {score}/5")

        if result.manual_rubric_results:
            print("  Regex Trait Results:")
            for trait_name, passed in result.manual_rubric_results.items():
                status = "✓ Pass" if passed else "✗ Fail"
                print(f"    {trait_name}: {status}")

        if result.metric_rubric_results:
            print("  Metric Trait Results:")
            for trait_name, metrics in result.metric_rubric_results.items():
                print(f"    {trait_name}:")
                for metric_name, value in metrics.items():
                    print(f"      {metric_name}: {value:.2f}")


def test_adding_the_same_question_again_keeps_one_and_takes_its_rubric() -> None:
    benchmark = Benchmark.create(name="Genomics Knowledge Benchmark")
    benchmark.add_question(question="What is the approved drug target of Venetoclax?", raw_answer="BCL2")
    rubric = Rubric(
        name="Drug Mechanism Validation",
        traits=[ManualRubricTrait(name="Mentions BH3 Proteins", pattern=r"\bBH3\b", case_sensitive=False)],
    )
    again = benchmark.add_question(
        question="What is the approved drug target of Venetoclax?", raw_answer="BCL2", rubric=rubric
    )
    assert len(benchmark) == 1
    assert benchmark.get_question_rubric(again) == rubric

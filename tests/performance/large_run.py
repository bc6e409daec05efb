"""A stored run of many results, with evidence of the usual size, that asked nobody."""

from __future__ import annotations

import random
from itertools import islice, product

from karenina_core.benchmark import Benchmark
from karenina_core.runs import Store, wanted
from karenina_core.schemas import (
    AnswerPart,
    CallRecord,
    ConfusionPart,
    Failure,
    FieldEvidence,
    QuestionSnapshot,
    Rubric,
    RubricPart,
    RubricTrait,
    TemplatePart,
    Usage,
    VerificationConfig,
    VerificationResult,
)

MODELS, REPLICATES = 10, 2
KEYWORDS = ("drugs", "genes", "trials", "enzymes", "imaging", "diet", "surgery", "ethics")
RULE = {"type": "ExactMatch", "normalize": ["lowercase"]}
_TEXT = "Venetoclax is a small molecule that binds BCL2 and lets damaged cells die. " * 20
_BATCH = 2_000


def make_run(store: Store, results: int, name: str = "Large", seed: int = 1) -> str:
    """Store a finished run over ten models and two repeats, and return its id.

    Args:
        store: Where.
        results: How many, a multiple of 20.
        name: Of the run.
        seed: Runs of different seeds have different answers to the same questions.
    """
    chance = random.Random(seed)
    questions = results // (MODELS * REPLICATES)
    plan = wanted(_benchmark(questions), _config())
    run_id = store.runs.create(plan, name)
    store.runs.set_status(run_id, "running")
    rows = product(range(questions), range(MODELS), range(1, REPLICATES + 1))
    while some := list(islice(rows, _BATCH)):
        store.results.save(run_id, [_result(*row, chance) for row in some])
    store.runs.set_status(run_id, "completed")
    return run_id


def _benchmark(questions: int) -> Benchmark:
    benchmark = Benchmark.create("Large")
    traits = [
        RubricTrait(name="Clarity", description="Is it clear?"),
        RubricTrait(name="Tone", description="How friendly is it?", min_score=0, max_score=10),
        RubricTrait(name="Polite", description="Is it polite?", kind="binary"),
    ]
    benchmark.set_global_rubric(Rubric(traits=list(traits)))
    for number in range(questions):
        benchmark.add_question(_question(number), "BCL2", question_id=f"{number:032x}")
    return benchmark


def _config() -> VerificationConfig:
    models = [f"lab/model-{number}" for number in range(MODELS)]
    return VerificationConfig.model_validate(
        {"answering_models": models, "parsing_models": ["lab/judge"], "replicate_count": REPLICATES}
    )


def _question(number: int) -> str:
    return f"Which gene does substance number {number} act on, by which mechanism, and since when is that known?"


def _result(question: int, model: int, replicate: int, chance: random.Random) -> VerificationResult:
    broken = chance.random() < 0.03
    skill = 0.3 + 0.06 * model - 0.4 * (question % 7 == 0)
    right = [chance.random() < skill + 0.3 for _ in range(3)]
    names = [f"{name}_{question % 40}" for name in ("gene", "mechanism", "year")]
    fields = [
        FieldEvidence(name=name, expected="BCL2", extracted="BCL2" if is_right else "KRAS", result=is_right, rule=RULE)
        for name, is_right in zip(names, right, strict=True)
    ]
    call = CallRecord(
        purpose="answer",
        model=f"lab/model-{model}",
        key=f"{question:032x}{model:031x}{replicate}",
        source="provider",
        messages=[{"role": "user", "content": _question(question)}],
        reply=_TEXT,
        usage=Usage(input_tokens=40, output_tokens=300, cost=0.0002 * (1 + model), calls=1),
        seconds=chance.lognormvariate(0.5 + 0.1 * model, 0.5),
    )
    clarity = chance.randint(2, 5)
    template = TemplatePart(
        template_id="t1",
        style="declarative",
        parsed={item.name: item.extracted for item in fields},
        expected={item.name: item.expected for item in fields},
        verify_result=all(right),
        verify_granular_result=sum(right) / 3,
        fields=fields,
    )
    return VerificationResult(
        question=QuestionSnapshot(
            id=f"{question:032x}",
            question=_question(question),
            raw_answer="BCL2",
            keywords=[KEYWORDS[question % 8], KEYWORDS[(question + 3) % 8]],
        ),
        answering_model=f"lab/model-{model}",
        parsing_model="lab/judge",
        replicate=replicate,
        status="failed" if broken else "completed",
        verdict="not_evaluated" if broken else "pass" if all(right) else "fail",
        failure=Failure(category="timeout", stage="generate_answer", reason="It took too long.") if broken else None,
        answer=None if broken else AnswerPart(text=_TEXT, call=call, addresses_judge=chance.random() < 0.001),
        template=None if broken else template,
        rubric=RubricPart() if broken else _rubric(clarity, chance),
        usage=Usage(input_tokens=90, output_tokens=340, cost=0.0003 * (1 + model), calls=2),
        seconds=call.seconds + 1,
    )


def _rubric(clarity: int, chance: random.Random) -> RubricPart:
    found = chance.randint(1, 4)
    part = ConfusionPart(tp=["asthma"] * found, fp=["gout"] * chance.randint(0, 2), fn=["sepsis"] * (4 - found))
    precision, recall = found / (found + len(part.fp)), found / 4
    return RubricPart(
        performed=True,
        scores={"Clarity": clarity, "Tone": 2 * clarity + chance.randint(-1, 0), "Polite": chance.random() < 0.8},
        metrics={"Diseases": {"precision": precision, "recall": recall}},
        confusion={"Diseases": part},
        provenance={"Clarity": "global", "Tone": "global", "Polite": "global", "Diseases": "global"},
    )

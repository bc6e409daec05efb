"""Small benchmarks and file nodes the tests of this room share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from karenina_core.benchmark import Benchmark
from karenina_core.schemas import ManualRubricTrait, MetricRubricTrait, Rubric, RubricTrait

FILES = Path(__file__).parents[1] / "data" / "checkpoints"

TEMPLATE = """class Answer(BaseAnswer):
    target: str = Field(description="The protein target.")

    def ground_truth(self):
        self.correct = {"target": "BCL2"}

    def verify(self) -> bool:
        return self.target.strip().upper() == self.correct["target"]
"""
OTHER_TEMPLATE = TEMPLATE.replace("BCL2", "JAK1")
BROKEN_TEMPLATE = "class Answer(BaseAnswer:\n    pass"

CLARITY = RubricTrait(name="Clarity", description="How clear?", kind="score")
POLITE = RubricTrait(name="Polite", description="Courteous?", kind="binary")
BH3 = ManualRubricTrait(name="BH3", pattern=r"\bBH3\b", case_sensitive=False)
LUNGS = MetricRubricTrait(name="Lungs", metrics=["precision", "f1"], tp_instructions=["asthma"])


def small_benchmark() -> Benchmark:
    """Three questions: one complete, one without a template, one unfinished."""
    benchmark = Benchmark.create("Small", "Three questions", "1.0.0", "Ada")
    benchmark.set_global_rubric(Rubric(name="Quality", traits=[CLARITY, POLITE]))
    benchmark.add_question(
        "What is the target of venetoclax?",
        "BCL2",
        TEMPLATE,
        question_id="target",
        author={"name": "Ada"},
        keywords=["pharmacology"],
        custom_metadata={"difficulty": "hard"},
        rubric=Rubric(traits=[BH3]),
    )
    benchmark.add_question("How many lungs?", "2", question_id="lungs", keywords=["anatomy"], author={"name": "Ben"})
    benchmark.add_question("Why is the sky blue?", "Scattering", TEMPLATE, question_id="sky", finished=False)
    return benchmark


def prop(name: str, value: Any, **extras: Any) -> dict[str, Any]:
    """A property node."""
    return {"@type": "PropertyValue", "name": name, "value": value, **extras}


def rating(
    kind: str, *properties: dict[str, Any], name: str = "T", best: float = 1, worst: float = 0
) -> dict[str, Any]:
    """A rating node of the type `karenina:<kind>`."""
    return {
        "@type": "Rating",
        "name": name,
        "description": "Something",
        "bestRating": best,
        "worstRating": worst,
        "additionalType": f"karenina:{kind}",
        "additionalProperty": list(properties),
    }


def item(text: str = "How many lungs?", **extras: Any) -> dict[str, Any]:
    """A DataFeedItem with a finished question; extras go onto the Question."""
    return {
        "@type": "DataFeedItem",
        "@id": f"urn:uuid:{text[:8]}",
        "dateCreated": "2026-01-05T09:00:00",
        "dateModified": "2026-01-05T09:00:00",
        "item": {
            "@type": "Question",
            "text": text,
            "acceptedAnswer": {"@type": "Answer", "text": "2"},
            "hasPart": {"@type": "SoftwareSourceCode", "name": "t", "text": "", "programmingLanguage": "Python"},
            "additionalProperty": [prop("finished", True)],
            **extras,
        },
    }


def document(*items: dict[str, Any], **extras: Any) -> dict[str, Any]:
    """A file of the present form."""
    return {
        "@context": {"@version": 1.1},
        "@type": "DataFeed",
        "@id": "urn:uuid:file",
        "name": "A file",
        "version": "1.0.0",
        "creator": "Ada",
        "dateCreated": "2026-01-05T09:00:00",
        "dateModified": "2026-01-05T09:00:00",
        "dataFeedElement": list(items),
        **extras,
    }


def load(content: Any) -> Benchmark:
    """Read a file's content."""
    return Benchmark.from_json(json.dumps(content))


def repairs_of(benchmark: Benchmark) -> list[str]:
    """The repairs of a benchmark in words."""
    return [str(repair) for repair in benchmark.repairs]

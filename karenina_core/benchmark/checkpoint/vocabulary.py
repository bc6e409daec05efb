"""The words of benchmark files. They look like linked data but are plain JSON; no context is ever resolved."""

from __future__ import annotations

from typing import Any

FORMAT_VERSION = "3.0.0-jsonld"
PREFIX = "karenina:"

CONTEXT: dict[str, Any] = {
    "@version": 1.1,
    "@vocab": "https://schema.org/",
    "karenina": "urn:karenina:vocab:",
    "dataFeedElement": {"@id": "dataFeedElement", "@container": "@set"},
    "item": {"@id": "item", "@type": "@id"},
    "acceptedAnswer": {"@id": "acceptedAnswer", "@type": "@id"},
    "rating": {"@id": "contentRating", "@container": "@set"},
    "additionalProperty": {"@id": "additionalProperty", "@container": "@set"},
    "hasPart": {"@id": "hasPart", "@container": "@set"},
    "keywords": {"@id": "keywords", "@container": "@set"},
}

GLOBAL = "Global"
QUESTION = "QuestionSpecific"

# Where a rubric's own name and description are kept; the format has no other place for them.
GLOBAL_RUBRIC_NAME = "global_rubric_name"
GLOBAL_RUBRIC_DESCRIPTION = "global_rubric_description"
QUESTION_RUBRIC_NAME = "question_rubric_name"
QUESTION_RUBRIC_DESCRIPTION = "question_rubric_description"

FORMAT_VERSION_NAME = "benchmark_format_version"
CUSTOM_PREFIX = "custom_"

# Property names under which older programs stored traits, with the kind of trait each holds.
GLOBAL_CARRIERS = {
    "global_rubric_traits": "llm",
    "global_llm_rubric_traits": "llm",
    "global_regex_rubric_traits": "regex",
    "global_manual_rubric_traits": "regex",
    "global_callable_rubric_traits": "callable",
    "global_metric_rubric_traits": "metric",
}
QUESTION_CARRIERS = {name.replace("global_", "question_", 1): kind for name, kind in GLOBAL_CARRIERS.items()}

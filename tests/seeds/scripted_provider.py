"""What the loopback provider replies in the documented rubric example."""

from __future__ import annotations

import json
from typing import Any

from tests.faults.openai_server import Reply

ANSWERS = {
    "chromosomes": "A human somatic cell has 46 chromosomes.",
    "Venetoclax": "Venetoclax targets BCL2; it is a BH3 mimetic.",
    "inflammatory": "Asthma, bronchitis and pneumonia are inflammatory lung diseases.",
}
DRAFTS = {
    "chromosomes": {
        "name": "count",
        "type": "int",
        "description": "The number of chromosomes stated",
        "ground_truth": 46,
    },
    "Venetoclax": {
        "name": "target",
        "type": "str",
        "description": "The protein target that is named",
        "ground_truth": "BCL2",
    },
    "inflammatory": {
        "name": "names_asthma",
        "type": "bool",
        "description": "Whether the response lists asthma",
        "ground_truth": True,
    },
}
EXTRACTIONS = {"chromosomes": {"count": 46}, "Venetoclax": {"target": "bcl2"}, "inflammatory": {"names_asthma": True}}


def reply_to(request: dict[str, Any]) -> Reply:
    """Answer by what is asked: a draft, an answer, an extraction, scores or items."""
    text = "\n".join(message["content"] for message in request["messages"])
    topic = next(topic for topic in ("chromosomes", "Venetoclax", "inflammatory") if topic in _question(request))
    wanted = request.get("response_format", {}).get("json_schema", {}).get("schema", {}).get("properties")
    if wanted is None:
        return Reply(ANSWERS[topic])
    if "fields" in wanted:
        return Reply(json.dumps({"fields": [DRAFTS[topic]]}))
    if "conciseness" in wanted:
        scores = {"conciseness": {"reason": "Short.", "value": 4}, "clarity": {"reason": "Clear.", "value": 5}}
        return Reply(json.dumps(scores))
    if "items" in wanted:
        items = [{"item": name, "matches": name} for name in ("asthma", "bronchitis", "pneumonia")]
        return Reply(json.dumps({"items": items}))
    assert "46" not in text.split("Question:")[0], "a judge must not be told the truth"
    return Reply(json.dumps(EXTRACTIONS[topic]))


def _question(request: dict[str, Any]) -> str:
    return str(request["messages"][-1]["content"]).split("Response:")[0].split("Reference answer:")[0]

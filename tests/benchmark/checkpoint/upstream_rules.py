"""The rules of the published file format, as far as readers of other programs insist on them."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from typing import Any

KINDS = ("RubricTrait", "LLMRubricTrait", "RegexTrait", "CallableTrait", "MetricRubricTrait", "AgenticRubricTrait",
         "DynamicRubricTrait")  # fmt: skip


def broken_rules(written: dict[str, Any]) -> Iterator[str]:
    """Yield every rule of the published format that a written file breaks."""

    def typed(where: str, node: Any, **kinds: tuple[type, ...]) -> None:
        for key, kind in kinds.items():
            key = key.replace("at_", "@")
            if not isinstance(node.get(key), kind):
                problems.append(f"{where}: {key} is {node.get(key)!r:.60}")

    def properties(where: str, node: Any) -> dict[str, Any]:
        nodes = node.get("additionalProperty") or []
        for each in nodes:
            typed(f"{where} property", each, name=text)
            if each.get("@type", "PropertyValue") != "PropertyValue" or "value" not in each:
                problems.append(f"{where}: property {each!r:.80}")
        return {each["name"]: each["value"] for each in nodes}

    def ratings(where: str, node: Any, scopes: tuple[str, ...]) -> None:
        typed(where, node, rating=(list, type(None)))
        for rating in node.get("rating") or []:
            place = f"{where}, trait {rating.get('name')}"
            typed(place, rating, name=text, description=optional, bestRating=number, worstRating=number)
            kind = str(rating.get("additionalType")).removeprefix("karenina:")
            if kind not in {scope + name for scope in scopes for name in KINDS}:
                problems.append(f"{place}: type {kind}")
            values = properties(place, rating)
            if kind.endswith("CallableTrait"):
                try:
                    b64decode(values.get("callable_code", ""), validate=True)
                except ValueError:
                    problems.append(f"{place}: its code is no base64")
            if kind.endswith("MetricRubricTrait"):
                full = values.get("evaluation_mode", "tp_only") == "full_matrix"
                allowed = {"precision", "recall", "f1", *(("specificity", "accuracy") if full else ())}
                if not values.get("metrics") or not set(values["metrics"]) <= allowed:
                    problems.append(f"{place}: metrics {values.get('metrics')} of {values.get('evaluation_mode')}")
                if not values.get("tp_instructions") or (full and not values.get("tn_instructions")):
                    problems.append(f"{place}: no instructions")
            if kind.endswith("AgenticRubricTrait") and not rating.get("description"):
                problems.append(f"{place}: no description")
            if kind.endswith("DynamicRubricTrait") and "dynamic_trait_type" not in values:
                problems.append(f"{place}: no dynamic_trait_type")

    problems: list[str] = []
    text, optional, number = (str,), (str, type(None)), (int, float)
    typed("root", written, at_context=(dict,), name=text, description=optional, version=optional,
          dataFeedElement=(list,), dateCreated=text, dateModified=text, at_id=optional,
          creator=(str, dict, type(None)))  # fmt: skip
    if written.get("@type") != "DataFeed":
        problems.append(f"root: type {written.get('@type')}")
    creator = written.get("creator")
    if isinstance(creator, dict) and (
        creator.get("@type", "Person") != "Person" or not isinstance(creator.get("name"), str)
    ):
        problems.append(f"root: creator {creator}")
    ratings("root", written, ("Global",))
    properties("root", written)
    for element in written["dataFeedElement"]:
        item, where = element["item"], f"question {element.get('@id')}"
        typed(where, element, at_id=optional, dateCreated=text, dateModified=text, item=(dict,))
        typed(
            where, item, at_id=optional, text=text, acceptedAnswer=(dict,), hasPart=(dict,), keywords=(list, type(None))
        )
        typed(f"{where} answer", item["acceptedAnswer"], text=text, at_id=optional)
        code = item["hasPart"]
        typed(f"{where} template", code, name=text, text=text, at_id=optional, codeRepository=optional)
        for node, kind in (
            (element, "DataFeedItem"),
            (item, "Question"),
            (item["acceptedAnswer"], "Answer"),
            (code, "SoftwareSourceCode"),
        ):
            if node.get("@type", kind) != kind:
                problems.append(f"{where}: type {node['@type']} instead of {kind}")
        words = item.get("keywords") or ()
        if code.get("programmingLanguage") != "Python" or not all(isinstance(word, str) for word in words):
            problems.append(f"{where}: language or keywords")
        ratings(where, item, ("Global", "QuestionSpecific"))
        properties(where, item)
    yield from problems

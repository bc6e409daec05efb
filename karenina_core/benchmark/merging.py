"""What becomes of a question whose text is added again: the existing one gains what is new."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from karenina_core.benchmark.base import dumped
from karenina_core.benchmark.entry import BenchmarkQuestion
from karenina_core.schemas import Rubric
from karenina_core.schemas.entities.question import FewShotExample

# Taken from the new question where the old one has none.
_FILLED_IN = ("answer_notes", "author", "sources", "workspace_path", "few_shot_examples", "custom_metadata")


@dataclass
class Merge:
    """The fields of the existing question that change, and why."""

    changes: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def change(self, name: str, value: Any, note: str) -> None:
        """Note one change."""
        self.changes[name] = value
        self.notes.append(note)

    def in_words(self) -> str:
        """Return what happened as one sentence."""
        return "; ".join(self.notes) or "nothing changed"


def merge_fields(old: BenchmarkQuestion, fields: Mapping[str, Any]) -> Merge:
    """Return what a repeated question changes in the existing one; only its rubric is left to `merge_traits`."""
    merge = Merge()
    template = fields.get("answer_template")
    if template and template != old.answer_template:
        what = "replaced its template" if old.answer_template else "added the template"
        merge.change("answer_template", template, what)
    keywords = [word for word in dict.fromkeys(fields.get("keywords") or ()) if word not in old.keywords]
    if keywords:
        merge.change("keywords", [*old.keywords, *keywords], f"added the keywords {', '.join(keywords)}")
    finished = fields.get("finished")
    if finished is not None and finished != old.finished:
        merge.change("finished", finished, "marked finished" if finished else "marked unfinished")
    _fill_in(merge, old, fields)
    return merge


def _fill_in(merge: Merge, old: BenchmarkQuestion, fields: Mapping[str, Any]) -> None:
    for name in _FILLED_IN:
        if fields.get(name) and not getattr(old, name):
            merge.change(name, fields[name], f"added {name}")
    kept = [name for name in ("raw_answer", *_FILLED_IN) if fields.get(name) and name not in merge.changes]
    kept = [name for name in kept if not _equal(fields[name], getattr(old, name))]
    if kept:
        merge.notes.append(f"kept its own {', '.join(kept)}")


def _equal(new: Any, old: Any) -> bool:
    if isinstance(new, list | tuple):
        return [_plain(item) for item in new] == [_plain(item) for item in old]
    return bool(new == old)


def _plain(item: Any) -> Any:
    return item.model_dump() if isinstance(item, FewShotExample) else item


def merge_traits(old: Rubric | None, new: Rubric, merge: Merge) -> Rubric:
    """Return the union of two rubrics, where the new one's traits win, and note what that changes."""
    traits = {trait.name: trait for trait in (old.traits if old else ())}
    added = [trait.name for trait in new.traits if trait.name not in traits]
    replaced = [trait.name for trait in new.traits if trait.name in traits and traits[trait.name] != trait]
    merged = Rubric(
        name=(old.name if old else None) or new.name,
        description=(old.description if old else None) or new.description,
        traits=list((traits | {trait.name: trait for trait in new.traits}).values()),
    )
    if merged != old:
        notes = [f"added the traits {', '.join(added)}"] if added else []
        notes += [f"replaced the traits {', '.join(replaced)}"] if replaced else []
        merge.change("question_rubric", dumped(merged), "; ".join(notes) or "named its rubric")
    return merged

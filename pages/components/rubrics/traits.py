"""The traits of a rubric: the list, and the editor of the chosen one."""

from __future__ import annotations

import streamlit as st

from karenina_core.authoring import lint_rubric
from karenina_core.errors import validation_message
from karenina_core.schemas import AnyTrait, StoredTrait
from pages.components import drafts, frame, save_button
from pages.components.drafts import Draft
from pages.components.rubrics.scope import Scope
from pages.components.text import plain, short
from pages.components.traits import acts as trait_acts
from pages.components.traits import findings as trait_findings
from pages.components.traits import form as trait_form
from pages.components.traits import trial as trait_try
from pages.components.traits.acts import NEW_MARK
from pages.components.traits.values import NEW, direction_in_words, kind_in_words, trait_of, values_of
from pages.components.widgets import pick

_KINDS = {"llm": "Judged by a model", "regex": "Regular expression", "metric": "Found items: precision, recall, F1"}


def draw(scope: Scope) -> None:
    """Draw the list of traits beside the editor of the chosen one."""
    left, right = st.columns([40, 60], gap="large")
    with left:
        chosen = _choose(scope)
    with right:
        if chosen is None:
            st.info(
                "This rubric has no traits yet. Add one with “Add trait”, or copy one from “Library”."
                if scope.question_id
                else "No trait applies to all questions yet. Add one with “Add trait”, or copy one from “Library”; "
                "single questions can have traits of their own, shown under “One question”.",
                icon=":material/checklist:",
            )
        else:
            _edit(scope, chosen)
            save_button.include_typing()


def _choose(scope: Scope) -> str | None:
    """Draw the list and return what to edit: the name of a trait, or `NEW_MARK` and the kind of a new one."""
    _add(scope)
    begun = [name.removeprefix(scope.draft_prefix) for name in drafts.unsaved(scope.draft_prefix + NEW_MARK)]
    known = [trait.name for trait in scope.rubric.traits] + begun
    chosen = trait_acts.chosen(scope)
    if chosen is None or (chosen not in known and not chosen.startswith(NEW_MARK)):
        chosen = known[0] if known else None
    if known:
        chosen = _table(scope, begun, chosen)
    if scope.inherited:
        st.caption(f":material/account_tree: Also applies, from all questions: {_listed(scope.inherited)}")
    if scope.replaced:
        st.caption(f":material/swap_horiz: Used here instead of the trait of all questions: {_listed(scope.replaced)}")
    return chosen


def _add(scope: Scope) -> None:
    kind = st.menu_button(
        "Add trait",
        list(_KINDS),
        format_func=lambda key: _KINDS[key],
        icon=":material/add:",
        key="add_trait",
        width="stretch",
    )
    if kind:
        trait_acts.choose(scope, f"{NEW_MARK}{kind}")


def _table(scope: Scope, begun: list[str], chosen: str | None) -> str | None:
    traits = scope.rubric.traits
    edited = drafts.unsaved(scope.draft_prefix)
    kept = len(scope.rubric.stored_traits)
    st.caption(
        f"{len(traits)} {'trait' if len(traits) == 1 else 'traits'}"
        + (f" · {kept} kept, not evaluated" if kept else "")
    )
    findings = [finding.field for finding in lint_rubric(traits, shared=scope.shared) if finding.severity != "hint"]
    rows = [
        {
            "Trait": short(trait.name, 80) + (" ✎" if scope.draft_prefix + trait.name in edited else ""),
            **({"To mend": str(findings.count(trait.name) or "")} if findings else {}),
            "Yields": kind_in_words(trait),
            "Better": direction_in_words(trait),
        }
        for trait in traits
    ]
    new = {"Trait": "new, not added yet ✎"} | ({"To mend": ""} if findings else {})
    rows += [new | {"Yields": _KINDS[name.removeprefix(NEW_MARK)], "Better": ""} for name in begun]
    names = [trait.name for trait in traits] + begun
    picked = pick("trait_table", names, rows, chosen, alt="Rubric traits")
    if picked != chosen:
        trait_acts.choose(scope, picked)
    return picked


def _edit(scope: Scope, chosen: str) -> None:
    trait = None if chosen.startswith(NEW_MARK) else scope.rubric.trait(chosen)
    if isinstance(trait, StoredTrait):
        trait_form.stored(trait)
        trait_acts.places(scope, trait)
        return
    kind = chosen.removeprefix(NEW_MARK) if trait is None else trait.type
    draft = drafts.draft_of(scope.draft_prefix + chosen, NEW[kind] if trait is None else values_of(trait))
    _bar(scope, trait, kind, draft)
    with frame.guard():
        trait_form.draw(kind, draft)
        typed = _typed(kind, draft, trait)
        if isinstance(typed, str):
            if draft.edits:
                st.caption(f":material/info: Not complete yet: {plain(typed, 300)}")
        else:
            if trait is not None or draft.edits:
                trait_findings.draw(scope, trait, typed, draft)
            trait_try.draw(scope, typed, draft)


def _typed(kind: str, draft: Draft, trait: AnyTrait | None) -> AnyTrait | str:
    """Return the trait as it is typed, or why it is none yet; a trait that is tried needs no name."""
    values = draft.values if draft.values["name"].strip() else draft.values | {"name": "New trait"}
    try:
        return trait_of(kind, values, trait)
    except ValueError as error:
        return validation_message(error)


def _bar(scope: Scope, trait: AnyTrait | None, kind: str, draft: Draft) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        save = save_button.draw("Save" if trait else "Add", "save_trait", edited=trait is None or bool(draft.edits))
        if st.button(
            "Discard edits" if trait else "Cancel",
            icon=":material/undo:",
            key="discard_trait",
            disabled=bool(trait) and not draft.edits,
        ):
            drafts.discard(draft.name)
            trait_acts.choose(scope, trait.name if trait else None)
            st.rerun()
        if trait is None:
            st.badge("New trait", icon=":material/add:", color="blue")
        elif draft.edits:
            st.badge("Unsaved edits", icon=":material/edit:", color="orange")
        else:
            st.caption("Saved")
    if trait is not None:
        trait_acts.places(scope, trait)
    if save:
        with frame.guard():
            trait_acts.save(scope, trait, trait_of(kind, draft.values, trait), draft)


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return ", ".join(plain(name, 40) for name in names[:12]) + more

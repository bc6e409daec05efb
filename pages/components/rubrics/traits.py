"""The traits of a rubric: the list, the editor of the chosen one, and what can be done with it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from karenina_core.authoring import lint_rubric
from karenina_core.errors import validation_message
from karenina_core.runs import add_to_library
from karenina_core.schemas import AnyTrait, StoredTrait
from karenina_core.text import counted
from pages.components import conflicts, drafts, feedback, forms, frame, save_button, services
from pages.components.drafts import Draft
from pages.components.rubrics.scope import Scope
from pages.components.text import plain, short
from pages.components.traits import form as trait_form
from pages.components.traits import trial as trait_trial
from pages.components.traits.form import KINDS, NEW, trait_of, values_of, yields
from pages.components.widgets import pick

NEW_MARK = "\n"  # cannot stand in the name of a trait
_CHOSEN = "_trait"
_DIRECTIONS = {True: "↑ higher", False: "↓ lower", None: "–"}


def draw(scope: Scope) -> None:
    """Draw the list of traits beside the editor of the chosen one."""
    left, right = st.columns([40, 60], gap="large")
    with left:
        chosen = _list(scope)
    with right:
        if chosen is not None:
            _edit(scope, chosen)
            save_button.include_typing()
        else:
            words = "This rubric has no traits yet. Add one with “Add trait”, or copy one from “Library”."
            if scope.question_id is None:
                words = (
                    "No trait applies to all questions yet. Add one with “Add trait”, or copy one from “Library”; "
                    "single questions can have traits of their own, shown under “One question”."
                )
            st.info(words, icon=":material/checklist:")


def choose(scope: Scope, name: str | None) -> None:
    """Choose what to edit next: the name of a trait, or `NEW_MARK` and the kind of a new one."""
    st.session_state[_CHOSEN] = {scope.draft_prefix: name}


def _list(scope: Scope) -> str | None:
    """Draw the list and return what to edit."""
    options: dict[str, Any] = {"icon": ":material/add:", "key": "add_trait", "width": "stretch"}
    kind = st.menu_button("Add trait", list(KINDS), format_func=KINDS.__getitem__, **options)
    if kind:
        choose(scope, f"{NEW_MARK}{kind}")
    begun = [name.removeprefix(scope.draft_prefix) for name in drafts.unsaved(scope.draft_prefix + NEW_MARK)]
    known = [trait.name for trait in scope.rubric.traits] + begun
    chosen: str | None = st.session_state.get(_CHOSEN, {}).get(scope.draft_prefix)
    if chosen is None or (chosen not in known and not chosen.startswith(NEW_MARK)):
        chosen = known[0] if known else None
    if known:
        chosen = _table(scope, begun, chosen)
    for names, before in (
        (scope.inherited, ":material/account_tree: Also applies, from all questions: "),
        (scope.replaced, ":material/swap_horiz: Used here instead of the trait of all questions: "),
    ):
        if names:
            st.caption(before + forms.first_few((plain(name, 40) for name in names), 12))
    return chosen


def _table(scope: Scope, begun: list[str], chosen: str | None) -> str | None:
    traits = scope.rubric.traits
    edited = drafts.unsaved(scope.draft_prefix)
    unused = len(scope.rubric.stored_traits)
    st.caption(counted(len(traits), "trait") + (f" · {unused} not evaluated" if unused else ""))
    problems = [item.field for item in lint_rubric(traits, shared=scope.shared) if item.severity != "hint"]
    rows = {
        trait.name: {
            "Trait": short(trait.name, 80) + (" ✎" if scope.draft_prefix + trait.name in edited else ""),
            **({"Problems": str(problems.count(trait.name) or "")} if problems else {}),
            "Yields": yields(trait),
            "Better": _DIRECTIONS[trait.higher_is_better],
        }
        for trait in traits
    }
    for name in begun:
        rows[name] = {"Trait": "new, not added yet ✎", "Yields": KINDS[name.removeprefix(NEW_MARK)]}
    picked = pick("trait_table", list(rows), list(rows.values()), chosen, alt="Rubric traits")
    if picked != chosen:
        choose(scope, picked)
    return picked


def _edit(scope: Scope, chosen: str) -> None:
    trait = None if chosen.startswith(NEW_MARK) else scope.rubric.trait(chosen)
    if isinstance(trait, StoredTrait):
        trait_form.stored(trait)
        _acts(scope, trait)
        return
    kind = chosen.removeprefix(NEW_MARK) if trait is None else trait.type
    stored = NEW[kind] if trait is None else values_of(trait)
    draft = drafts.draft_of(scope.draft_prefix + chosen, stored)
    met = conflicts.of_draft(draft, stored, lambda name: name.replace("_", " ").capitalize())
    _bar(scope, trait, kind, draft, settled=not met)
    conflicts.draw(met)
    with frame.guard():
        trait_form.draw(kind, draft)
        # A trait that is tried needs no name yet.
        values = draft.values if draft.values["name"].strip() else draft.values | {"name": "New trait"}
        try:
            typed = trait_of(kind, values, trait)
        except ValueError as error:
            if draft.edits:
                st.caption(f":material/info: Not complete yet: {plain(validation_message(error), 300)}")
            return
        if trait is not None or draft.edits:
            trait_form.findings(scope, trait, typed, draft)
        trait_trial.draw(scope, typed, draft)


def _bar(scope: Scope, trait: AnyTrait | None, kind: str, draft: Draft, *, settled: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        save = save_button.draw("Save" if trait else "Add", "save_trait", edited=trait is None or bool(draft.edits))
        label, idle = ("Discard edits", not draft.edits) if trait else ("Cancel", False)
        if forms.button(label, "undo", "discard_trait", disabled=idle):
            drafts.discard(draft.name)
            choose(scope, trait.name if trait else None)
            st.rerun()
        if trait is None:
            st.badge("New trait", icon=":material/add:", color="blue")
        elif draft.edits:
            st.badge("Unsaved edits", icon=":material/edit:", color="orange")
        else:
            st.caption("Saved")
    if trait is not None:
        _acts(scope, trait)
    if save and settled:
        with frame.guard():
            _save(scope, trait, trait_of(kind, draft.values, trait), draft)


def _save(scope: Scope, trait: AnyTrait | None, saved: AnyTrait, draft: Draft) -> None:
    """Store a trait, new or edited, and draw the page anew.

    Raises:
        InputError: Its name is used already.
    """
    traits = scope.now()
    before = trait.name if trait else None
    names = [other.name for other in traits]
    if before in names:
        traits[names.index(before)] = saved
    else:
        traits.append(saved)
    scope.save(traits, [saved.name] if saved.name != before else [])
    drafts.discard(draft.name)
    choose(scope, saved.name)
    feedback.say(f"Saved **{plain(saved.name, 60)}**.")
    st.rerun()


def _acts(scope: Scope, trait: AnyTrait) -> None:
    """Draw the buttons that do something with a stored trait as a whole."""
    names = [other.name for other in scope.rubric.traits]
    place = names.index(trait.name)
    with st.container(horizontal=True, vertical_alignment="center"), frame.guard():
        if forms.button("Up", "arrow_upward", "trait_up", disabled=place == 0):
            _move(scope, trait, -1)
        if forms.button("Down", "arrow_downward", "trait_down", disabled=place == len(names) - 1):
            _move(scope, trait, 1)
        if not isinstance(trait, StoredTrait):
            if forms.button("Duplicate", "content_copy", "duplicate_trait"):
                _duplicate(scope, trait)
            library_help = "Stores the saved trait in the library, so that any benchmark can copy it."
            if forms.button("Add to library", "bookmark_add", "keep_trait", help=library_help):
                add_to_library(services.store(), trait, scope.benchmark_name)
                feedback.say(f"**{plain(trait.name, 60)}** is in the library.")
                st.rerun()
        if forms.button("Delete", "delete", "delete_trait"):
            _delete(scope, trait)


def _move(scope: Scope, trait: AnyTrait, by: int) -> None:
    traits = scope.now()
    place = [other.name for other in traits].index(trait.name)
    traits.insert(max(0, min(place + by, len(traits) - 1)), traits.pop(place))
    scope.save(traits)
    choose(scope, trait.name)
    st.rerun()


def _duplicate(scope: Scope, trait: AnyTrait) -> None:
    traits = scope.now()
    [copy] = scope.copies([trait])
    traits.insert([other.name for other in traits].index(trait.name) + 1, copy)
    scope.save(traits, [copy.name])
    choose(scope, copy.name)
    feedback.say(f"Made **{plain(copy.name, 60)}**, a copy to change.")
    st.rerun()


def _delete(scope: Scope, trait: AnyTrait) -> None:
    place = [other.name for other in scope.rubric.traits].index(trait.name)
    scope.save([other for other in scope.now() if other.name != trait.name])

    def undo() -> None:
        traits = scope.now()
        traits.insert(place, trait)
        scope.save(traits)
        choose(scope, trait.name)

    feedback.offer_undo(f"Deleted the trait **{plain(trait.name, 60)}**", undo)
    st.rerun()

"""The traits of a rubric: the list, and the editor of the chosen one."""

from __future__ import annotations

import streamlit as st

from karenina_core.schemas.entities.rubric import AnyTrait, Rubric, StoredTrait
from pages.components import drafts, feedback, frame, save_button, services, trait_form
from pages.components.benchmark_choice import reading
from pages.components.drafts import Draft
from pages.components.picker import pick
from pages.components.rubric_scope import Scope
from pages.components.text import plain, short
from pages.components.trait_values import NEW, direction_in_words, kind_in_words, trait_of, values_of

NEW_MARK = "\n"  # cannot stand in the name of a trait
_CHOSEN = "_trait"
_KINDS = {"llm": "Judged by a model", "regex": "Regular expression", "metric": "Found items: precision, recall, F1"}


def choose(scope: Scope) -> str | None:
    """Draw the list and return what to edit: the name of a trait, or `NEW_MARK` and the kind of a new one."""
    _add(scope)
    names = [trait.name for trait in scope.rubric.traits]
    chosen: str | None = st.session_state.get(_CHOSEN, {}).get(scope.draft_prefix)
    if chosen is None or (chosen not in names and not chosen.startswith(NEW_MARK)):
        chosen = names[0] if names else None
    if names:
        chosen = _table(scope, chosen)
    if scope.inherited:
        st.caption(f":material/account_tree: Also applies, from all questions: {_listed(scope.inherited)}")
    if scope.replaced:
        st.caption(f":material/swap_horiz: Used here instead of the trait of all questions: {_listed(scope.replaced)}")
    return chosen


def remember(scope: Scope, chosen: str | None) -> None:
    """Choose what to edit next."""
    st.session_state[_CHOSEN] = {scope.draft_prefix: chosen}


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
        remember(scope, f"{NEW_MARK}{kind}")


def _table(scope: Scope, chosen: str | None) -> str | None:
    traits = scope.rubric.traits
    names = [trait.name for trait in traits]
    edited = drafts.unsaved(scope.draft_prefix)
    kept = len(scope.rubric.stored_traits)
    st.caption(
        f"{len(names)} {'trait' if len(names) == 1 else 'traits'}" + (f" · {kept} kept, not evaluated" if kept else "")
    )
    rows = [
        {
            "Trait": short(trait.name, 80) + (" ✎" if scope.draft_prefix + trait.name in edited else ""),
            "Yields": kind_in_words(trait),
            "Better": direction_in_words(trait),
        }
        for trait in traits
    ]
    picked = pick("trait_table", names, rows, chosen, alt="Rubric traits")
    if picked != chosen:
        remember(scope, picked)
    return picked


def edit(scope: Scope, chosen: str) -> None:
    """Draw the editor of a trait or of a new one."""
    trait = None if chosen.startswith(NEW_MARK) else scope.rubric.trait(chosen)
    if isinstance(trait, StoredTrait):
        trait_form.stored(trait)
        if st.button("Delete", icon=":material/delete:", key="delete_trait"):
            _delete(scope, trait)
        return
    kind = chosen.removeprefix(NEW_MARK) if trait is None else trait.type
    draft = drafts.draft_of(scope.draft_prefix + chosen, NEW[kind] if trait is None else values_of(trait))
    _bar(scope, trait, kind, draft)
    with frame.guard():
        trait_form.draw(kind, draft)


def _bar(scope: Scope, trait: AnyTrait | None, kind: str, draft: Draft) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        save = save_button.draw("Save" if trait else "Add", "save_trait")
        if st.button(
            "Discard edits" if trait else "Cancel",
            icon=":material/undo:",
            key="discard_trait",
            disabled=bool(trait) and not draft.edits,
        ):
            drafts.discard(draft.name)
            remember(scope, trait.name if trait else None)
            st.rerun()
        if trait and st.button("Delete", icon=":material/delete:", key="delete_trait"):
            _delete(scope, trait)
        if trait is None:
            st.badge("New trait", icon=":material/add:", color="blue")
        elif draft.edits:
            st.badge("Unsaved edits", icon=":material/edit:", color="orange")
        else:
            st.caption("Saved")
    if save:
        with frame.guard():
            _save(scope, trait, kind, draft)


def _save(scope: Scope, trait: AnyTrait | None, kind: str, draft: Draft) -> None:
    saved = trait_of(kind, draft.values, trait)
    traits = list(_now(scope).traits)
    places = [place for place, other in enumerate(traits) if trait is not None and other.name == trait.name]
    if places:
        traits[places[0]] = saved
    else:
        traits.append(saved)
    scope.save(_with(scope, traits))
    drafts.discard(draft.name)
    remember(scope, saved.name)
    feedback.say(f"Saved **{plain(saved.name, 60)}**.")
    st.rerun()


def _delete(scope: Scope, trait: AnyTrait) -> None:
    place = [other.name for other in scope.rubric.traits].index(trait.name)
    scope.save(_with(scope, [other for other in _now(scope).traits if other.name != trait.name]))

    def undo() -> None:
        traits = list(_now(scope).traits)
        traits.insert(place, trait)
        scope.save(_with(scope, traits))
        remember(scope, trait.name)

    feedback.offer_undo(f"Deleted the trait **{plain(trait.name, 60)}**", undo)
    st.rerun()


def _now(scope: Scope) -> Rubric:
    """Return the rubric as it is stored at this moment."""
    row = services.store().benchmark(scope.benchmark_id)
    benchmark = reading(row.id, row.revision)
    found = (
        benchmark.get_global_rubric() if scope.question_id is None else benchmark.get_question_rubric(scope.question_id)
    )
    return found or Rubric()


def _with(scope: Scope, traits: list[AnyTrait]) -> Rubric:
    rubric = _now(scope)
    return Rubric(name=rubric.name, description=rubric.description, traits=traits)


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - 12} more" if len(names) > 12 else ""
    return ", ".join(plain(name, 40) for name in names[:12]) + more

"""What can be done with a trait of a rubric: save, move, duplicate, keep in the library, delete."""

from __future__ import annotations

from functools import partial

import streamlit as st

from karenina_core.runs import add_to_library
from karenina_core.schemas import AnyTrait, StoredTrait
from karenina_core.text import first_free
from pages.components import drafts, feedback, frame, services
from pages.components.drafts import Draft
from pages.components.rubrics.scope import Scope
from pages.components.text import plain

NEW_MARK = "\n"  # cannot stand in the name of a trait
_CHOSEN = "_trait"


def chosen(scope: Scope) -> str | None:
    """Return what is being edited: the name of a trait, or `NEW_MARK` and the kind of a new one."""
    found: str | None = st.session_state.get(_CHOSEN, {}).get(scope.draft_prefix)
    return found


def choose(scope: Scope, name: str | None) -> None:
    """Choose what to edit next."""
    st.session_state[_CHOSEN] = {scope.draft_prefix: name}


def save(scope: Scope, trait: AnyTrait | None, saved: AnyTrait, draft: Draft) -> None:
    """Store a trait, new or edited, and draw the page anew.

    Raises:
        InputError: Its name is taken.
    """
    traits = scope.now()
    places = [place for place, other in enumerate(traits) if trait is not None and other.name == trait.name]
    is_new_name = trait is None or saved.name != trait.name
    if places:
        traits[places[0]] = saved
    else:
        traits.append(saved)
    scope.save(traits, [saved.name] if is_new_name else [])
    drafts.discard(draft.name)
    choose(scope, saved.name)
    feedback.say(f"Saved **{plain(saved.name, 60)}**.")
    st.rerun()


def places(scope: Scope, trait: AnyTrait) -> None:
    """Draw the buttons that do something with a stored trait as a whole."""
    names = [other.name for other in scope.rubric.traits]
    place = names.index(trait.name)
    with st.container(horizontal=True, vertical_alignment="center"), frame.guard():
        if st.button("Up", icon=":material/arrow_upward:", key="trait_up", disabled=place == 0):
            _move(scope, trait, -1)
        if st.button("Down", icon=":material/arrow_downward:", key="trait_down", disabled=place == len(names) - 1):
            _move(scope, trait, 1)
        if not isinstance(trait, StoredTrait):
            if st.button("Duplicate", icon=":material/content_copy:", key="duplicate_trait"):
                _duplicate(scope, trait)
            if st.button(
                "Keep in library",
                icon=":material/bookmark_add:",
                key="keep_trait",
                help="Keeps the saved trait, so that any benchmark can copy it.",
            ):
                add_to_library(services.store(), trait, scope.benchmark_name)
                feedback.say(f"**{plain(trait.name, 60)}** is in the library.")
                st.rerun()
        if st.button("Delete", icon=":material/delete:", key="delete_trait"):
            _delete(scope, trait)


def _move(scope: Scope, trait: AnyTrait, by: int) -> None:
    traits = scope.now()
    place = [other.name for other in traits].index(trait.name)
    target = max(0, min(place + by, len(traits) - 1))
    traits.insert(target, traits.pop(place))
    scope.save(traits)
    choose(scope, trait.name)
    st.rerun()


def _duplicate(scope: Scope, trait: AnyTrait) -> None:
    traits = scope.now()
    taken = {other.name for other in (*traits, *scope.shared)}
    copy = trait.model_copy(deep=True, update={"name": first_free(partial("{} {}".format, trait.name), taken, start=2)})
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

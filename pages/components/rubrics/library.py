"""Copying traits into a rubric: from the library, or from another benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from karenina_core.runs import (
    LibraryTrait,
    add_to_library,
    library,
    library_file,
    put_back,
    read_library,
    remove_from_library,
)
from karenina_core.schemas import AnyTrait, StoredTrait
from karenina_core.text import counted
from pages.components import feedback, forms, frame, services
from pages.components.benchmarks import choice as benchmark_choice
from pages.components.rubrics import traits as rubric_traits
from pages.components.rubrics.scope import Scope
from pages.components.text import distinct, plain, short
from pages.components.traits.form import yields
from pages.components.widgets import download

_LIBRARY = "library"


def draw(scope: Scope) -> None:
    """Draw the source, its traits, and what can be done with those that are selected."""
    benchmarks = {row.id: row for row in services.store().benchmarks.all() if row.id != scope.benchmark_id}
    names = {_LIBRARY: "The library"} | {name: benchmark_choice.label(row) for name, row in benchmarks.items()}
    labels = distinct(names, names.__getitem__)
    source = forms.select("Copy from", labels, "library_source", width=420)
    entries = library(services.store()) if source == _LIBRARY else []
    if source == _LIBRARY:
        traits = [(entry.trait, entry.origin) for entry in entries]
    else:
        row = benchmarks[source]
        every = benchmark_choice.reading(row.id, row.revision).all_traits()
        traits = [(trait, row.name) for trait in every if not isinstance(trait, StoredTrait)]
    if traits:
        _acts(scope, [trait for trait, _ in traits], _table(source, traits), entries, traits[0][1])
    else:
        empty = "The library is empty. Add a trait with “Add to library” under “Traits”, or import a file below."
        words = empty if source == _LIBRARY else "This benchmark has no trait that is evaluated."
        st.info(words, icon=":material/info:")
    if source == _LIBRARY:
        _files(entries)


def _table(source: str, traits: Sequence[tuple[AnyTrait, str]]) -> list[int]:
    """Draw the traits and return the places of the selected ones."""
    event = st.dataframe(
        [
            {
                "Trait": short(trait.name, 80),
                "Yields": yields(trait),
                "Description": short(trait.description or getattr(trait, "pattern", "") or "", 120),
                "From": short(origin, 60),
            }
            for trait, origin in traits
        ],
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        key=f"library_table_{source}_{len(traits)}",
        alt="Traits to copy",
    )
    return [row for row in event.selection.rows if row < len(traits)]


def _acts(
    scope: Scope, traits: Sequence[AnyTrait], selected: Sequence[int], entries: Sequence[LibraryTrait], origin: str
) -> None:
    where = f"“{short(scope.question, 50)}”" if scope.question_id else "all questions"
    number = counted(len(selected), "trait")
    label = f"Copy {number} to {plain(where)}" if selected else "Select traits in the table to copy them"
    with st.container(horizontal=True), frame.guard():
        if forms.button(label, "content_copy", "library_copy", type="primary", disabled=not selected):
            _copy(scope, [traits[row] for row in selected])
        if entries:
            if forms.button("Remove from the library", "delete", "library_remove", disabled=not selected):
                _remove([entries[row] for row in selected])
        elif forms.button("Add to library", "bookmark_add", "library_keep", disabled=not selected):
            for place in selected:
                add_to_library(services.store(), traits[place], origin)
            feedback.say(f"{number} added to the library.")
            st.rerun()


def _copy(scope: Scope, traits: Sequence[AnyTrait]) -> None:
    copies = scope.copies(traits)
    names = [copy.name for copy in copies]
    scope.save([*scope.now(), *copies], names)
    rubric_traits.choose(scope, names[0])

    def undo() -> None:
        scope.save([trait for trait in scope.now() if trait.name not in names])

    feedback.offer_undo(f"Copied {_bold(copies)}", undo)
    st.rerun()


def _remove(entries: Sequence[LibraryTrait]) -> None:
    removed = [remove_from_library(services.store(), entry.id) for entry in entries]

    def undo() -> None:
        for entry in removed:
            put_back(services.store(), entry)

    feedback.offer_undo(f"Removed {_bold([entry.trait for entry in removed])} from the library", undo)
    st.rerun()


def _bold(traits: Sequence[AnyTrait]) -> str:
    return forms.first_few((f"**{plain(trait.name, 40)}**" for trait in traits), 5)


def _files(entries: Sequence[LibraryTrait]) -> None:
    with st.expander("Export or import the library", icon=":material/sync_alt:"):
        if entries:
            make = partial(library_file, [entry.trait for entry in entries])
            download("Export as JSON", make, "traits.json", "application/json", key="library_export")
        upload = st.file_uploader("A library file", type=["json"], max_upload_size=5, key="library_import")
        if upload is None:
            return
        with frame.guard():
            traits = read_library(upload.getvalue())
            known = {entry.trait.model_dump_json() for entry in entries}
            new = [trait for trait in traits if trait.model_dump_json() not in known]
            st.caption(f"The file holds {len(traits)} traits; {len(new)} of them are not in the library yet.")
            if forms.button(f"Add {len(new)} to the library", "add", "library_import_add", disabled=not new):
                for trait in new:
                    add_to_library(services.store(), trait, upload.name)
                feedback.say(f"Added {len(new)} to the library.")
                st.rerun()

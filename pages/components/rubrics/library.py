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
from karenina_core.text import first_free
from pages.components import feedback, frame, services
from pages.components.benchmarks.choice import reading
from pages.components.rubrics.scope import Scope
from pages.components.text import distinct, plain, short
from pages.components.traits import acts as trait_acts
from pages.components.traits.values import kind_in_words

_LIBRARY = "library"


def draw(scope: Scope) -> None:
    """Draw the source, its traits, and what can be done with those that are marked."""
    benchmarks = {row.id: row for row in services.store().benchmarks.all() if row.id != scope.benchmark_id}
    named = distinct(
        [_LIBRARY, *benchmarks],
        lambda name: (
            "The library"
            if name == _LIBRARY
            else f"{short(benchmarks[name].name, 60)} · {short(benchmarks[name].version, 20)}"
        ),
    )
    source = st.selectbox(
        "Copy from",
        list(named),
        format_func=named.__getitem__,
        key="library_source",
        width=420,
    )
    entries = library(services.store())
    if source == _LIBRARY:
        traits = [entry.trait for entry in entries]
        origins = [entry.origin for entry in entries]
    else:
        traits = _of_benchmark(source)
        origins = [benchmarks[source].name] * len(traits)
    if traits:
        marked = _table(source, traits, origins)
        _acts(scope, traits, marked, entries if source == _LIBRARY else [])
    elif source == _LIBRARY:
        st.info(
            "The library is empty. Keep a trait with “Keep in library” under “Traits”, or import a file below.",
            icon=":material/bookmark:",
        )
    else:
        st.info("This benchmark has no trait that is evaluated.", icon=":material/checklist:")
    if source == _LIBRARY:
        _files(entries)


def _of_benchmark(benchmark_id: str) -> list[AnyTrait]:
    row = services.store().benchmarks.row(benchmark_id)
    found = reading(row.id, row.revision).all_traits()
    return [trait for trait in found if not isinstance(trait, StoredTrait)]


def _table(source: str, traits: Sequence[AnyTrait], origins: Sequence[str]) -> list[int]:
    event = st.dataframe(
        [
            {
                "Trait": short(trait.name, 80),
                "Yields": kind_in_words(trait),
                "Says": short(trait.description or getattr(trait, "pattern", "") or "", 120),
                "From": short(origin, 60),
            }
            for trait, origin in zip(traits, origins, strict=True)
        ],
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        key=f"library_table_{source}_{len(traits)}",
        alt="Traits to copy",
    )
    return [row for row in event.selection.rows if row < len(traits)]


def _acts(scope: Scope, traits: Sequence[AnyTrait], marked: Sequence[int], entries: Sequence[LibraryTrait]) -> None:
    where = f"“{short(scope.question, 50)}”" if scope.question_id else "all questions"
    number = "1 trait" if len(marked) == 1 else f"{len(marked)} traits"
    rename = st.toggle(
        "Give another name where a name is taken",
        key="library_rename",
        help="Otherwise a trait whose name is taken is not copied, and nothing else is either.",
    )
    with st.container(horizontal=True), frame.guard():
        if st.button(
            f"Copy {number} to {plain(where)}" if marked else "Mark traits in the table to copy them",
            type="primary",
            icon=":material/content_copy:",
            key="library_copy",
            disabled=not marked,
        ):
            _copy(scope, [traits[row] for row in marked], rename)
        if entries and st.button(
            "Remove from the library", icon=":material/delete:", key="library_remove", disabled=not marked
        ):
            _remove([entries[row] for row in marked])
        if not entries and st.button(
            "Keep in library", icon=":material/bookmark_add:", key="library_keep", disabled=not marked
        ):
            row = services.store().benchmarks.row(st.session_state["library_source"])
            for place in marked:
                add_to_library(services.store(), traits[place], row.name)
            feedback.say(f"{number} kept in the library.")
            st.rerun()


def _copy(scope: Scope, traits: Sequence[AnyTrait], rename: bool) -> None:
    present = scope.now()
    taken = {trait.name for trait in (*present, *scope.shared)}
    copies: list[AnyTrait] = []
    for trait in traits:
        name = trait.name
        if rename and name in taken:
            name = first_free(partial("{} {}".format, name), taken, start=2)
        taken.add(name)
        copies.append(trait.model_copy(deep=True, update={"name": name}))
    names = [copy.name for copy in copies]
    scope.save([*present, *copies], names)
    trait_acts.choose(scope, names[0])

    def undo() -> None:
        scope.save([trait for trait in scope.now() if trait.name not in names])

    listed = ", ".join(f"**{plain(name, 40)}**" for name in names[:5])
    feedback.offer_undo(f"Copied {listed}" + (f" and {len(names) - 5} more" if len(names) > 5 else ""), undo)
    st.rerun()


def _remove(entries: Sequence[LibraryTrait]) -> None:
    store = services.store()
    removed = [remove_from_library(store, entry.id) for entry in entries]

    def undo() -> None:
        for entry in removed:
            put_back(services.store(), entry)

    listed = ", ".join(f"**{plain(entry.trait.name, 40)}**" for entry in removed[:5])
    feedback.offer_undo(f"Removed {listed} from the library", undo)
    st.rerun()


def _files(entries: Sequence[LibraryTrait]) -> None:
    with st.expander("Export or import the library", icon=":material/sync_alt:"):
        if entries:
            st.download_button(
                "Export as JSON",
                data=lambda: library_file(entry.trait for entry in entries),
                file_name="traits.json",
                mime="application/json",
                icon=":material/download:",
                on_click="ignore",
                key="library_export",
            )
        upload = st.file_uploader("A library file", type=["json"], max_upload_size=5, key="library_import")
        if upload is None:
            return
        with frame.guard():
            traits = read_library(upload.getvalue())
            known = {entry.trait.model_dump_json() for entry in entries}
            new = [trait for trait in traits if trait.model_dump_json() not in known]
            st.caption(f"The file holds {len(traits)} traits; {len(new)} of them are not in the library yet.")
            if st.button(
                f"Add {len(new)} to the library", icon=":material/add:", key="library_import_add", disabled=not new
            ):
                for trait in new:
                    add_to_library(services.store(), trait, upload.name)
                feedback.say(f"Added {len(new)} to the library.")
                st.rerun()

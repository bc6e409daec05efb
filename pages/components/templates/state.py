"""What was typed into the form of a template, beside the source that the draft holds.

The source is what counts and what is saved. The form follows it; what a person types into the form is written into
the source at once where it makes a template, and otherwise stays in the form until it does, also over a reload.

Changes come from callbacks of widgets, which run before the page is drawn, so that everything on it sees them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from karenina_core.authoring import FormData, form_data, form_of, write_form
from karenina_core.errors import KareninaError
from pages.components import drafts, feedback
from pages.components.drafts import Draft
from pages.components.text import plain
from pages.components.widgets import fingerprint, next_number

TEMPLATE = "answer_template"
_FORMS = "_template_forms"


@dataclass
class Form:
    """What was typed.

    Attributes:
        draft: The draft it belongs to.
        source: The source it belongs to.
        data: What was typed, valid or not.
        problem: Why it is not in the source; None where it is.
        chosen: The place of the field that is edited.
        generation: Number of this filling; part of the widget keys, so that old ones never show again.
    """

    draft: Draft
    source: str
    data: FormData
    problem: str | None = None
    chosen: int = 0
    generation: int = field(default_factory=next_number)
    _seen: set[str] = field(default_factory=set, repr=False)
    _drawn: set[str] = field(default_factory=set, repr=False)

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Draw the widgets of the form in here, so that it is known which of them a person can have seen."""
        self._seen |= self._drawn  # of a drawing that was interrupted
        self._drawn = set()
        yield
        self._seen = self._drawn

    def shows(self, key: str) -> bool:
        """Return whether a widget is there, by the last whole drawing and what was drawn since.

        A browser that has not heard yet that a widget is gone reports its value once more, as if it had been changed.
        """
        return key in self._seen or key in self._drawn

    @property
    def fields(self) -> list[dict[str, Any]]:
        """The fields as they were typed."""
        fields: list[dict[str, Any]] = self.data["fields"]
        return fields

    def key(self, *parts: object) -> str:
        """Return the key of a widget of this filling.

        A widget keeps what it shows as long as its key stays. So the key of one whose value or options other widgets
        change names what it depends on.
        """
        return "_".join(["template_form", fingerprint(self.draft.name), str(self.generation), *map(str, parts)])

    def bind(self, edit: Callable[[FormData, Any], FormData], *parts: object, anew: bool = False) -> dict[str, Any]:
        """Return `key` and callback of a widget whose value changes the form.

        Args:
            edit: Takes what was typed and the value of the widget, and returns what is typed now.
            *parts: What tells the widget from the others, and what its value or options depend on.
            anew: As for `change`.
        """
        key = self.key(*parts)
        self._drawn.add(key)

        def apply() -> None:
            now = form_for(self.draft)
            # Until another form has been drawn, a person still has this one before them.
            if (now if now is not None and now._seen else self).shows(key):
                change(self.draft, lambda data: edit(data, st.session_state[key]), anew=anew)

        return {"key": key, "on_change": apply}


def form_for(draft: Draft) -> Form | None:
    """Return the form of a draft, filled anew when the source was changed elsewhere; None for an unreadable source."""
    forms: dict[str, Form] = st.session_state.setdefault(_FORMS, {})
    source, known, typed = draft.values[TEMPLATE], forms.get(draft.name), _pending(draft).values["typed"]
    if known is not None and known.source == source:
        known.draft = draft
        return known
    if typed is not None and typed["source"] == source:
        forms[draft.name] = Form(draft, source, typed["data"], typed["problem"])
        return forms[draft.name]
    spec = form_of(source).spec
    if spec is None:
        return None
    chosen = min(known.chosen, max(len(spec.fields) - 1, 0)) if known else 0
    forms[draft.name] = Form(draft, source, form_data(spec), chosen=chosen)
    _store(forms[draft.name])
    return forms[draft.name]


def change(
    draft: Draft, edit: Callable[[FormData], FormData], *, anew: bool = False, choose: int | None = None
) -> None:
    """Apply a change to the form, and to the source where the form makes a template then.

    Args:
        draft: The draft.
        edit: Takes what was typed and returns it changed.
        anew: Draw all widgets of the form anew, because places moved or a widget shall be empty again.
        choose: The place of the field to edit next.
    """
    draft.collect()
    form = form_for(draft)
    if form is None:
        return
    try:
        form.data = edit(form.data)
    except IndexError:  # the source was changed in the same moment, and the field is gone
        return
    except KareninaError as error:
        feedback.say(plain(" ".join(part for part in (error.what, error.why, error.next) if part)))
        return
    if anew:
        form.generation = next_number()
    if choose is not None:
        form.chosen = choose
    written = write_form(form.source, form.data)
    form.problem = written.problem
    if written.source != form.source:
        form.source = written.source
        draft.put(TEMPLATE, written.source)
    _store(form)


def put_source(draft: Draft, edit: Callable[[str], str], message: str = "") -> None:
    """Change the source; the form is filled anew from it.

    Args:
        draft: The draft.
        edit: Takes the source and returns it changed.
        message: What to say when it was changed, as Markdown.
    """
    draft.collect()
    try:
        draft.put(TEMPLATE, edit(draft.values[TEMPLATE]))
    except KareninaError as error:
        feedback.say(plain(f"{error.what} {error.why}".strip()))
        return
    if message:
        feedback.say(message)


def take_back(draft: Draft) -> None:
    """Forget what was typed and is not in the source."""
    st.session_state.get(_FORMS, {}).pop(draft.name, None)
    _pending(draft).values["typed"] = None


def _pending(draft: Draft) -> Draft:
    return drafts.draft_of(f"form of {draft.name}", {"typed": None})


def _store(form: Form) -> None:
    typed = {"source": form.source, "data": form.data, "problem": form.problem} if form.problem else None
    _pending(form.draft).values["typed"] = typed

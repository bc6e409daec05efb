"""A form is written into its source, or the source stays as it is and a sentence says why."""

from __future__ import annotations

from karenina_core.authoring import (
    FormData,
    Written,
    add_field,
    form_data,
    form_of,
    remove_field,
    set_name,
    set_value,
    write_form,
)
from tests.authoring.test_source_edits import SOURCE


def data() -> FormData:
    spec = form_of(SOURCE).spec
    assert spec is not None
    return form_data(spec)


def test_what_did_not_change_leaves_the_source_byte_for_byte() -> None:
    assert write_form(SOURCE, data()) == Written(SOURCE)


def test_an_edit_keeps_comments() -> None:
    written = write_form(SOURCE, set_value(data(), 0, "description", "The gene symbol"))
    assert written.source == SOURCE.replace('"The gene named in the response"', '"The gene symbol"')


def test_what_makes_no_template_leaves_the_source_and_says_why() -> None:
    written = write_form(SOURCE, set_name(data(), 0, "the gene"))
    assert written.source == SOURCE
    assert "'the gene' is not a field name" in str(written.problem)


def test_a_template_that_would_verify_nothing_is_not_written() -> None:
    written = write_form(SOURCE, remove_field(remove_field(data(), 0), 0))
    assert written.source == SOURCE and "cannot be written into the source" in str(written.problem)


def test_a_form_without_fields_is_a_blank_source() -> None:
    assert write_form("", {"fields": []}).problem is None
    assert "needs a description" in str(write_form("", add_field({"fields": []}, "BCL2")).problem)

"""Form to source: what did not change stays byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karenina_core.authoring import edit_source, form_of, replace_field
from karenina_core.errors import InputError, TemplateError
from karenina_core.schemas import AllOf, AnyOf, FieldCheck
from karenina_core.templates import FieldSpec, TemplateSpec, read_template, write_template
from tests.templates.test_writer import NAMES, fields, specs

SOURCE = '''\
# A template with remarks.
from karenina.schemas.entities import BaseAnswer, VerifiedField

GENE = "BCL2"  # as HGNC writes it


class Answer(BaseAnswer):
    """What counts as right."""

    # The gene comes first.
    gene: str = VerifiedField(
        description="The gene named in the response",  # for the judge
        ground_truth=GENE,  # the truth
        verify_with=ExactMatch( normalize = ["lowercase"] ),
    )  # end of gene
    count : int = VerifiedField(description="How many there are", ground_truth=3, verify_with=NumericExact())

# Tried out by hand:
answer = Answer(gene="BCL2", count=3)
'''


def changed(name: str, /, **values: object) -> FieldSpec:
    item = next(item for item in read_template(SOURCE).spec.fields if item.name == name)
    return FieldSpec.model_validate({**item.model_dump(), **values})


def test_only_the_changed_argument_is_written_anew() -> None:
    result = replace_field(SOURCE, "gene", changed("gene", description="The gene symbol"))
    assert result == SOURCE.replace('"The gene named in the response"', '"The gene symbol"')


def test_a_constant_stays_where_it_was_used_until_its_field_gets_another_truth() -> None:
    result = replace_field(SOURCE, "gene", changed("gene", ground_truth="KRAS"))
    assert result == SOURCE.replace("ground_truth=GENE", 'ground_truth="KRAS"')


def test_a_new_argument_goes_behind_the_last_one() -> None:
    result = replace_field(SOURCE, "gene", changed("gene", weight=2))
    assert '["lowercase"] ),\n        weight=2.0,\n    )  # end of gene' in result
    result = replace_field(SOURCE, "count", changed("count", extraction_hint="In words too"))
    assert 'verify_with=NumericExact(), extraction_hint="In words too")\n' in result


def test_an_argument_that_returns_to_its_default_is_written_as_such() -> None:
    heavy = replace_field(SOURCE, "gene", changed("gene", weight=2))
    item = read_template(heavy).spec.fields[0].model_copy(update={"weight": 1.0})
    assert "weight=1.0" in replace_field(heavy, "gene", item)


def test_a_field_with_another_type_and_name() -> None:
    item = changed("count", name="amount", type="float", ground_truth=2.5)
    result = replace_field(SOURCE, "count", item)
    assert "    amount : float = VerifiedField(" in result
    assert (
        "# The gene comes first." in result and '# Tried out by hand:\nanswer = Answer(gene="BCL2", count=3)' in result
    )


def test_a_composition_follows_a_renamed_field() -> None:
    spec = read_template(SOURCE).spec
    checks = AnyOf(conditions=[AllOf(conditions=[FieldCheck(field_name="gene")]), FieldCheck(field_name="count")])
    composed = edit_source(SOURCE, spec.model_copy(update={"verify_strategy": checks}))
    renamed = replace_field(composed, "gene", changed("gene", name="symbol"))
    assert list(read_template(renamed).spec.verify_strategy.field_names()) == ["symbol", "count"]  # type: ignore[union-attr]


def test_fields_are_added_removed_and_moved() -> None:
    spec = read_template(SOURCE).spec
    gene, count = spec.fields
    extra = FieldSpec(name="drug", description="The drug", ground_truth="x", verify_with={"type": "ExactMatch"})
    added = edit_source(SOURCE, TemplateSpec(fields=[gene, count, extra]))
    assert added.startswith(SOURCE[: SOURCE.index("\n# Tried")]) and added.endswith(SOURCE[SOURCE.index("\n# Tried") :])
    assert edit_source(added, TemplateSpec(fields=[gene, count])) == SOURCE
    moved = edit_source(SOURCE, TemplateSpec(fields=[count, gene]))
    assert moved.index("count :") < moved.index("gene: str") and 'GENE = "BCL2"  # as HGNC' in moved


def test_a_composition_comes_and_goes() -> None:
    spec = read_template(SOURCE).spec
    check = FieldCheck(field_name="gene")
    composed = edit_source(SOURCE, spec.model_copy(update={"verify_strategy": check}))
    assert '    class VerificationStrategy:\n        verify_strategy = FieldCheck(field="gene")\n' in composed
    other = spec.model_copy(update={"verify_strategy": AnyOf(conditions=[check])})
    assert 'AnyOf(conditions=[FieldCheck(field="gene")])' in edit_source(composed, other)
    assert "VerificationStrategy" not in edit_source(composed, spec)


def test_methods_stay_when_a_verified_field_beside_them_changes() -> None:
    source = SOURCE.replace("\n# Tried", "    def verify(self):\n        return self.count > 2  # by hand\n\n# Tried")
    result = replace_field(source, "gene", changed("gene", description="The gene symbol"))
    assert result == source.replace('"The gene named in the response"', '"The gene symbol"')


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_line_ends_of_the_file_are_kept(newline: str) -> None:
    source = SOURCE.replace("\n", newline)
    assert replace_field(source, "gene", changed("gene", weight=2)).replace(newline, "\n").count("\r") == 0
    described = replace_field(source, "gene", changed("gene", description="The gene symbol"))
    assert described == source.replace('"The gene named in the response"', '"The gene symbol"')


def test_an_indented_text_with_a_byte_order_mark_is_edited_in_place() -> None:
    source = "\ufeff" + "".join(f"    {line}" for line in SOURCE.splitlines(keepends=True))
    described = replace_field(source, "gene", changed("gene", description="Gène symbol"))
    assert described == source.replace('"The gene named in the response"', '"Gène symbol"')
    assert read_template(replace_field(source, "gene", changed("gene", weight=2))).spec.fields[0].weight == 2


def test_brackets_around_a_value_stay() -> None:
    source = SOURCE.replace("=GENE,", '=("BC"  # first half\n            "L2"),')
    result = replace_field(source, "gene", changed("gene", ground_truth="KRAS", weight=3))
    assert '=("KRAS"),' in result and "weight=3.0" in result


def test_a_field_without_arguments_is_written_whole() -> None:
    rule = "VerifiedField(description='d', ground_truth='a', verify_with=ExactMatch())"
    source = f"class Answer(BaseAnswer):\n    note: str; gene: str = {rule}\n"
    item = FieldSpec(name="note", description="A remark")
    result = replace_field(source, "note", item)
    assert read_template(result).spec.fields[0] == item
    assert "note" not in edit_source(source, TemplateSpec(fields=[read_template(source).spec.fields[1]]))


def test_what_a_source_cannot_hold_is_refused() -> None:
    source = SOURCE.replace("class Answer", "class ExactMatch:\n    pass\n\n\nclass Answer").replace(
        'ExactMatch( normalize = ["lowercase"] )', "LiteralMatch()"
    )
    item = changed("gene", verify_with={"type": "ExactMatch"})
    with pytest.raises(InputError, match="cannot be written"):
        replace_field(source, "gene", item)
    with pytest.raises(InputError, match="cannot be written"):
        edit_source(SOURCE, TemplateSpec())
    with pytest.raises(TemplateError):
        edit_source("class Answer(", TemplateSpec())


@given(specs(), specs())
def test_any_form_can_be_written_over_any_other(before: TemplateSpec, after: TemplateSpec) -> None:
    assert read_template(edit_source(write_template(before), after)).spec == after


@given(specs(), st.data())
def test_the_rest_of_the_file_stays_byte_for_byte(spec: TemplateSpec, data: st.DataObject) -> None:
    spec = spec.model_copy(update={"verify_strategy": None})
    lines = write_template(spec).split("\n")
    source = "\n".join(f"{line}  # remark {n}" if line.endswith("(") else line for n, line in enumerate(lines))
    old = data.draw(st.sampled_from(spec.fields[:-1]))
    taken = {item.name for item in spec.fields}
    new = data.draw(fields(data.draw(NAMES.filter(lambda name: name not in taken) | st.just(old.name))))
    result = replace_field(source, old.name, new)
    start = source.index(f"    {old.name}: ", source.index("class Answer"))
    assert result.startswith(source[:start])
    assert result.endswith(source[source.index("\n    )\n", start) :])


@given(specs())
def test_a_form_is_lossless(spec: TemplateSpec) -> None:
    view = form_of(write_template(spec))
    assert view.editable and view.spec == spec
    assert form_of(edit_source("", spec)) == view

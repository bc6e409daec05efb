"""Specs become sources, and reading these gives the same specs."""

from __future__ import annotations

import json
import keyword
import string
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from karenina_core.errors import InputError
from karenina_core.schemas import AllOf, AnyOf, AtLeastN, FieldCheck
from karenina_core.schemas.primitives import (
    BooleanMatch,
    ContainsAll,
    ContainsAny,
    DateMatch,
    DateRange,
    DateTolerance,
    ExactMatch,
    NumericExact,
    NumericRange,
    NumericTolerance,
    OrderedMatch,
    RegexMatch,
    SemanticMatch,
    SetContainment,
    SynonymMap,
    TraceContains,
    TraceLength,
    TraceRegex,
)
from karenina_core.templates import (
    FieldSpec,
    ModelSpec,
    TemplateSpec,
    is_reserved,
    read_template,
    write_template,
)

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
# With a letter in front, so that no normaliser leaves nothing of it.
WORDS = TEXT.map(lambda text: f"a{text}")
NAMES = st.text(string.ascii_lowercase + "_", min_size=1, max_size=8).filter(
    lambda name: not name.startswith("_") and not is_reserved(name) and not keyword.iskeyword(name)
)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
PLAIN: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | FINITE | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
NORMALIZERS = st.lists(
    st.sampled_from(["lowercase", "strip", "remove_punctuation", "collapse_whitespace", "casefold"])
    | st.dictionaries(TEXT, TEXT, max_size=2).map(lambda mapping: SynonymMap(mapping=mapping)),
    max_size=3,
)
PATTERNS = st.sampled_from([r"NCT\d{8}", '"quoted"', "it's", r"\bBH3\b", "(?i)a|b", "\\\\", "é\n"])


def contains_all(**parameters: Any) -> ContainsAll:
    """Build the primitive, unless a word is nothing once it is normalised."""
    try:
        return ContainsAll(**parameters)
    except ValueError:
        reject()


RULES: dict[str, st.SearchStrategy[Any]] = {
    "str": st.one_of(
        st.builds(ExactMatch, normalize=NORMALIZERS),
        st.builds(ContainsAny, substrings=st.lists(WORDS, min_size=1, max_size=3)),
        st.builds(contains_all, substrings=st.lists(WORDS, min_size=1, max_size=3), normalize=NORMALIZERS),
        st.builds(
            RegexMatch, pattern=PATTERNS, flags=st.lists(st.sampled_from(["IGNORECASE", "MULTILINE"]), max_size=2)
        ),
        st.builds(SemanticMatch, threshold=st.floats(0, 1)),
        st.builds(DateMatch, format=st.none() | st.just("%d/%m/%Y"), dayfirst=st.booleans()),
        st.builds(DateTolerance, tolerance=st.integers(0, 99), unit=st.sampled_from(["days", "hours", "minutes"])),
        st.just(DateRange(min="2015-01-01", max="2015-12-31")),
    ),
    "int": st.builds(NumericExact),
    "float": st.one_of(
        st.builds(NumericTolerance, tolerance=st.floats(0, 10), mode=st.sampled_from(["relative", "absolute"])),
        st.builds(NumericRange, min=st.none() | st.floats(-10, 0), max=st.none() | st.floats(0, 10)),
    ),
    "list_str": st.one_of(
        st.builds(
            SetContainment,
            mode=st.sampled_from(["exact", "subset", "superset", "overlap"]),
            min_overlap=st.none() | st.integers(1, 9),
            normalize=NORMALIZERS,
        ),
        st.builds(OrderedMatch, normalize=NORMALIZERS),
    ),
    "bool": st.one_of(
        st.builds(BooleanMatch),
        st.builds(TraceRegex, pattern=PATTERNS, count_min=st.none() | st.integers(1, 9)),
        st.builds(TraceContains, substring=WORDS),
        st.builds(
            TraceLength, min=st.integers(0, 9), max=st.integers(10, 99), unit=st.sampled_from(["chars", "words"])
        ),
    ),
}
OTHER_TYPES = st.sampled_from(
    ["str | None", "list[int]", "dict[str, float]", "set[str]", "tuple[str, ...]", "Any", "date", "datetime | None",
     "list[Site]", "Site | None", 'Literal["I", "II"] | None', "int | str", "list[dict[str, Any]]",
     "tuple[str, int]", "Decimal", "list[UUID]", "HttpUrl | None", "dict[int, timedelta]", "bytes",
     "list[Annotated[str, Field(min_length=2)]]"]
)  # fmt: skip
OPTIONS = st.fixed_dictionaries({}, optional={"default": PLAIN, "title": TEXT, "examples": st.lists(PLAIN, max_size=2)})
SITE = ModelSpec(
    name="Site",
    description="A place.",
    fields=[FieldSpec(name="city", description="Its name", options={"min_length": 1})],
)


@st.composite
def fields(draw: st.DrawFn, name: str) -> FieldSpec:
    kind = draw(st.sampled_from([*RULES, "literal", "other", "plain"]))
    common = {"name": name, "description": draw(WORDS)}
    if kind == "plain":
        return FieldSpec(**common, type=draw(st.sampled_from(["int", "str"])), options=draw(OPTIONS))
    if kind == "literal":
        values = draw(st.lists(TEXT | st.integers(2, 99), min_size=1, max_size=4, unique=True))
        common |= {"type": kind, "literal_values": values, "verify_with": {"type": "LiteralMatch"}}
    elif kind == "other":
        common |= {"type": kind, "annotation": draw(OTHER_TYPES), "verify_with": {"type": "LiteralMatch"}}
    else:
        common |= {"type": kind, "verify_with": draw(RULES[kind]).to_dict()}
    return FieldSpec(
        **common,
        ground_truth=draw(PLAIN),
        weight=draw(st.floats(0.1, 10)),
        extraction_hint=draw(st.none() | TEXT),
    )


@st.composite
def specs(draw: st.DrawFn) -> TemplateSpec:
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    made = [draw(fields(name)) for name in names]
    made.append(FieldSpec(name="sure", description="d", ground_truth="a", verify_with={"type": "ExactMatch"}))
    checks = [FieldCheck(field_name=item.name) for item in made if item.verify_with]
    strategies = [None, AllOf(conditions=checks), AtLeastN(n=1, conditions=[AnyOf(conditions=checks), checks[0]])]
    return TemplateSpec(fields=made, verify_strategy=draw(st.sampled_from(strategies)), models=[SITE])


@settings(deadline=None)
@given(specs())
def test_reading_what_was_written_gives_the_same_spec(spec: TemplateSpec) -> None:
    assert read_template(write_template(spec)).spec == spec


@settings(deadline=None)
@given(specs())
def test_writing_is_canonical(spec: TemplateSpec) -> None:
    source = write_template(spec)
    assert write_template(read_template(source).spec) == source


@settings(deadline=None)
@given(specs())
def test_whatever_was_written_can_be_shown_to_a_judge_without_its_truth(spec: TemplateSpec) -> None:
    schema = read_template(write_template(spec)).judge_schema()
    assert set(schema["properties"]) == {item.name for item in spec.judged} == set(schema["required"])
    assert not {"ground_truth", "verify_with", "default"} & set(json.dumps(schema).split('"'))


def test_the_canonical_form() -> None:
    spec = TemplateSpec(
        fields=[
            FieldSpec(
                name="gene",
                description="Gene name",
                ground_truth="BCL2",
                verify_with=ExactMatch(normalize=["lowercase", SynonymMap(mapping={"bcl-2": "bcl2"})]).to_dict(),
                weight=2,
                extraction_hint='Look for "BCL".',
            ),
            FieldSpec(
                name="cites",
                type="bool",
                description="Cites a trial",
                ground_truth=True,
                verify_with=TraceRegex(pattern=r"NCT\d{8}").to_dict(),
            ),
            FieldSpec(name="seen", type="other", annotation="date | None", options={"default": None}),
        ],
        verify_strategy=AnyOf(conditions=[FieldCheck(field_name="gene"), FieldCheck(field_name="cites")]),
    )
    assert (
        write_template(spec)
        == """\
from datetime import date


class Answer(BaseAnswer):
    gene: str = VerifiedField(
        description="Gene name",
        ground_truth="BCL2",
        verify_with=ExactMatch(normalize=["lowercase", SynonymMap(mapping={"bcl-2": "bcl2"})]),
        weight=2.0,
        extraction_hint='Look for "BCL".',
    )
    cites: bool = VerifiedField(
        description="Cites a trial",
        ground_truth=True,
        verify_with=TraceRegex(pattern=r"NCT\\d{8}"),
    )
    seen: date | None = Field(
        default=None,
    )

    class VerificationStrategy:
        verify_strategy = AnyOf(conditions=[FieldCheck(field="gene"), FieldCheck(field="cites")])
"""
    )


def test_a_spec_that_verifies_nothing_is_not_written() -> None:
    with pytest.raises(InputError, match="verifies nothing"):
        write_template(TemplateSpec(fields=[FieldSpec(name="x")]))


def test_code_is_never_written_over() -> None:
    spec = read_template("class Answer(BaseAnswer):\n    x: str\n    def verify(self):\n        return True\n").spec
    with pytest.raises(InputError, match="methods of its own"):
        write_template(spec)

"""The verification primitives: deterministic rules that decide right or wrong."""

from karenina_core.schemas.primitives.base import (
    REGISTRY,
    Explanation,
    FieldKind,
    Primitive,
    Step,
    TracePrimitive,
    VerificationPrimitive,
    _register_primitive,
    primitive_from_dict,
    stored_form,
)
from karenina_core.schemas.primitives.categories import BooleanMatch, LiteralMatch, SemanticMatch
from karenina_core.schemas.primitives.dates import DateMatch, DateRange, DateTolerance
from karenina_core.schemas.primitives.lists import OrderedMatch, SetContainment
from karenina_core.schemas.primitives.normalizers import Normalizer, SynonymMap
from karenina_core.schemas.primitives.numeric import NumericExact, NumericRange, NumericTolerance
from karenina_core.schemas.primitives.text import ContainsAll, ContainsAny, ExactMatch, RegexMatch
from karenina_core.schemas.primitives.trace import TraceContains, TraceLength, TraceRegex

__all__ = [
    "REGISTRY",
    "BooleanMatch",
    "ContainsAll",
    "ContainsAny",
    "DateMatch",
    "DateRange",
    "DateTolerance",
    "ExactMatch",
    "Explanation",
    "FieldKind",
    "LiteralMatch",
    "Normalizer",
    "NumericExact",
    "NumericRange",
    "NumericTolerance",
    "OrderedMatch",
    "Primitive",
    "RegexMatch",
    "SemanticMatch",
    "SetContainment",
    "Step",
    "SynonymMap",
    "TraceContains",
    "TraceLength",
    "TracePrimitive",
    "TraceRegex",
    "VerificationPrimitive",
    "_register_primitive",
    "primitive_from_dict",
    "stored_form",
]

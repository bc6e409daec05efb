"""The verification primitives: deterministic rules that decide right or wrong."""
# ruff: isort: skip_file

from karenina_core.schemas.primitives.base import (
    REGISTRY as REGISTRY,
    Explanation as Explanation,
    FieldKind as FieldKind,
    Primitive as Primitive,
    Step as Step,
    TracePrimitive as TracePrimitive,
    VerificationPrimitive as VerificationPrimitive,
    _register_primitive as _register_primitive,
    primitive_from_dict as primitive_from_dict,
    stored_form as stored_form,
)
from karenina_core.schemas.primitives.categories import (
    BooleanMatch as BooleanMatch,
    LiteralMatch as LiteralMatch,
    SemanticMatch as SemanticMatch,
)
from karenina_core.schemas.primitives.dates import (
    DateMatch as DateMatch,
    DateRange as DateRange,
    DateTolerance as DateTolerance,
)
from karenina_core.schemas.primitives.lists import (
    OrderedMatch as OrderedMatch,
    SetContainment as SetContainment,
)
from karenina_core.schemas.primitives.normalizers import (
    Normalizer as Normalizer,
    SynonymMap as SynonymMap,
    apply_normalizer as apply_normalizer,
    apply_normalizers as apply_normalizers,
)
from karenina_core.schemas.primitives.numeric import (
    NumericExact as NumericExact,
    NumericRange as NumericRange,
    NumericTolerance as NumericTolerance,
)
from karenina_core.schemas.primitives.text import (
    ContainsAll as ContainsAll,
    ContainsAny as ContainsAny,
    ExactMatch as ExactMatch,
    RegexMatch as RegexMatch,
)
from karenina_core.schemas.primitives.trace import (
    TraceContains as TraceContains,
    TraceLength as TraceLength,
    TraceRegex as TraceRegex,
)

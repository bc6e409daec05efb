"""The verification primitives: deterministic rules that decide right or wrong."""

from karenina_core.schemas.primitives.base import (
    REGISTRY as REGISTRY,
)
from karenina_core.schemas.primitives.base import (
    Explanation as Explanation,
)
from karenina_core.schemas.primitives.base import (
    FieldKind as FieldKind,
)
from karenina_core.schemas.primitives.base import (
    Primitive as Primitive,
)
from karenina_core.schemas.primitives.base import (
    Step as Step,
)
from karenina_core.schemas.primitives.base import (
    TracePrimitive as TracePrimitive,
)
from karenina_core.schemas.primitives.base import (
    VerificationPrimitive as VerificationPrimitive,
)
from karenina_core.schemas.primitives.base import (
    _register_primitive as _register_primitive,
)
from karenina_core.schemas.primitives.base import (
    primitive_from_dict as primitive_from_dict,
)
from karenina_core.schemas.primitives.base import (
    stored_form as stored_form,
)
from karenina_core.schemas.primitives.categories import (
    BooleanMatch as BooleanMatch,
)
from karenina_core.schemas.primitives.categories import (
    LiteralMatch as LiteralMatch,
)
from karenina_core.schemas.primitives.categories import (
    SemanticMatch as SemanticMatch,
)
from karenina_core.schemas.primitives.dates import (
    DateMatch as DateMatch,
)
from karenina_core.schemas.primitives.dates import (
    DateRange as DateRange,
)
from karenina_core.schemas.primitives.dates import (
    DateTolerance as DateTolerance,
)
from karenina_core.schemas.primitives.lists import (
    OrderedMatch as OrderedMatch,
)
from karenina_core.schemas.primitives.lists import (
    SetContainment as SetContainment,
)
from karenina_core.schemas.primitives.normalizers import (
    Normalizer as Normalizer,
)
from karenina_core.schemas.primitives.normalizers import (
    SynonymMap as SynonymMap,
)
from karenina_core.schemas.primitives.numeric import (
    NumericExact as NumericExact,
)
from karenina_core.schemas.primitives.numeric import (
    NumericRange as NumericRange,
)
from karenina_core.schemas.primitives.numeric import (
    NumericTolerance as NumericTolerance,
)
from karenina_core.schemas.primitives.text import (
    ContainsAll as ContainsAll,
)
from karenina_core.schemas.primitives.text import (
    ContainsAny as ContainsAny,
)
from karenina_core.schemas.primitives.text import (
    ExactMatch as ExactMatch,
)
from karenina_core.schemas.primitives.text import (
    RegexMatch as RegexMatch,
)
from karenina_core.schemas.primitives.trace import (
    TraceContains as TraceContains,
)
from karenina_core.schemas.primitives.trace import (
    TraceLength as TraceLength,
)
from karenina_core.schemas.primitives.trace import (
    TraceRegex as TraceRegex,
)

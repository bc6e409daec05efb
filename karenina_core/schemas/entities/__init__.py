"""The nouns people write: answers, questions, rubrics."""

from karenina_core.schemas.entities.answer import (
    AllOf as AllOf,
)
from karenina_core.schemas.entities.answer import (
    AnyOf as AnyOf,
)
from karenina_core.schemas.entities.answer import (
    AtLeastN as AtLeastN,
)
from karenina_core.schemas.entities.answer import (
    BaseAnswer as BaseAnswer,
)
from karenina_core.schemas.entities.answer import (
    FieldCheck as FieldCheck,
)
from karenina_core.schemas.entities.answer import (
    VerifiedField as VerifiedField,
)
from karenina_core.schemas.entities.normalizers import (
    Normalizer as Normalizer,
)
from karenina_core.schemas.entities.normalizers import (
    SynonymMap as SynonymMap,
)
from karenina_core.schemas.entities.question import (
    FewShotExample as FewShotExample,
)
from karenina_core.schemas.entities.question import (
    Question as Question,
)
from karenina_core.schemas.entities.rubric import (
    LLMRubricTrait as LLMRubricTrait,
)
from karenina_core.schemas.entities.rubric import (
    ManualRubricTrait as ManualRubricTrait,
)
from karenina_core.schemas.entities.rubric import (
    MetricRubricTrait as MetricRubricTrait,
)
from karenina_core.schemas.entities.rubric import (
    RegexRubricTrait as RegexRubricTrait,
)
from karenina_core.schemas.entities.rubric import (
    RegexTrait as RegexTrait,
)
from karenina_core.schemas.entities.rubric import (
    Rubric as Rubric,
)
from karenina_core.schemas.entities.rubric import (
    RubricTrait as RubricTrait,
)
from karenina_core.schemas.entities.rubric import (
    StoredTrait as StoredTrait,
)

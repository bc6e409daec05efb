"""The nouns people write: answers, questions, rubrics."""
# ruff: isort: skip_file

from karenina_core.schemas.entities.answer import (
    AllOf as AllOf,
    AnyOf as AnyOf,
    AtLeastN as AtLeastN,
    BaseAnswer as BaseAnswer,
    FieldCheck as FieldCheck,
    VerifiedField as VerifiedField,
)
from karenina_core.schemas.entities.normalizers import (
    Normalizer as Normalizer,
    SynonymMap as SynonymMap,
)
from karenina_core.schemas.entities.question import (
    FewShotExample as FewShotExample,
    Question as Question,
)
from karenina_core.schemas.entities.rubric import (
    LLMRubricTrait as LLMRubricTrait,
    ManualRubricTrait as ManualRubricTrait,
    MetricRubricTrait as MetricRubricTrait,
    RegexRubricTrait as RegexRubricTrait,
    RegexTrait as RegexTrait,
    Rubric as Rubric,
    RubricTrait as RubricTrait,
    StoredTrait as StoredTrait,
)

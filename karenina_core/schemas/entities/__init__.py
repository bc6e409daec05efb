"""The nouns people write: answers, questions, rubrics."""

from karenina_core.schemas.entities.answer import AllOf, AnyOf, AtLeastN, BaseAnswer, FieldCheck, VerifiedField
from karenina_core.schemas.entities.normalizers import Normalizer, SynonymMap
from karenina_core.schemas.entities.question import FewShotExample, Question
from karenina_core.schemas.entities.rubric import (
    LLMRubricTrait,
    ManualRubricTrait,
    MetricRubricTrait,
    RegexRubricTrait,
    RegexTrait,
    Rubric,
    RubricTrait,
    StoredTrait,
)

__all__ = [
    "AllOf",
    "AnyOf",
    "AtLeastN",
    "BaseAnswer",
    "FewShotExample",
    "FieldCheck",
    "LLMRubricTrait",
    "ManualRubricTrait",
    "MetricRubricTrait",
    "Normalizer",
    "Question",
    "RegexRubricTrait",
    "RegexTrait",
    "Rubric",
    "RubricTrait",
    "StoredTrait",
    "SynonymMap",
    "VerifiedField",
]

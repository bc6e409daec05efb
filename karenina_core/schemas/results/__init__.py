"""What one evaluation leaves behind: status, verdict, and the evidence for both.

Status (did the machine do its work) and verdict (was the answer right) are separate: an error is never a
wrong answer.
"""

from karenina_core.schemas.results.answer import AnswerPart, GuardPart, SimilarityPart
from karenina_core.schemas.results.call import CallRecord
from karenina_core.schemas.results.failure import Failure, FailureCategory, Status, Verdict
from karenina_core.schemas.results.part import built
from karenina_core.schemas.results.result import QuestionSnapshot, RowKey, StageRecord, VerificationResult, result_id
from karenina_core.schemas.results.result_set import VerificationResultSet
from karenina_core.schemas.results.rubric import ConfusionPart, RubricPart
from karenina_core.schemas.results.template import FieldEvidence, TemplatePart
from karenina_core.schemas.results.usage import Usage, total_usage

__all__ = [
    "AnswerPart",
    "CallRecord",
    "ConfusionPart",
    "Failure",
    "FailureCategory",
    "FieldEvidence",
    "GuardPart",
    "QuestionSnapshot",
    "RowKey",
    "RubricPart",
    "SimilarityPart",
    "StageRecord",
    "Status",
    "TemplatePart",
    "Usage",
    "Verdict",
    "VerificationResult",
    "VerificationResultSet",
    "built",
    "result_id",
    "total_usage",
]

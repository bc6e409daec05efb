"""Runs: what is wanted, carrying it out in the background, and the store that keeps everything."""

from karenina_core.runs.again import failed_guards, failed_traits
from karenina_core.runs.estimate import Estimate, estimate
from karenina_core.runs.plan import Plan, SkippedQuestion, wanted
from karenina_core.runs.prepared import AnswerMatch, answers_missing, match_answers, with_answers
from karenina_core.runs.progress import ModelCount, Progress
from karenina_core.runs.reverify import Flip, FlipList, flips, preview, reverify
from karenina_core.runs.runner import Runner
from karenina_core.runs.store import BenchmarkRow, RunRow, RunStatus, Store
from karenina_core.runs.subset import choose_questions, questions_of
from karenina_core.runs.topup import top_up, widened
from karenina_core.runs.verification import run_verification

__all__ = [
    "AnswerMatch",
    "BenchmarkRow",
    "Estimate",
    "Flip",
    "FlipList",
    "ModelCount",
    "Plan",
    "Progress",
    "RunRow",
    "RunStatus",
    "Runner",
    "SkippedQuestion",
    "Store",
    "answers_missing",
    "choose_questions",
    "estimate",
    "failed_guards",
    "failed_traits",
    "flips",
    "match_answers",
    "preview",
    "questions_of",
    "reverify",
    "run_verification",
    "top_up",
    "wanted",
    "widened",
    "with_answers",
]

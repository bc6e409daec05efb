"""Runs: what is wanted, carrying it out in the background, and the store that keeps everything."""

from karenina_core.runs.engine.again import failed_guards, failed_traits
from karenina_core.runs.engine.progress import ModelCount, Progress
from karenina_core.runs.engine.runner import Runner
from karenina_core.runs.plans.estimate import Estimate, estimate
from karenina_core.runs.plans.plan import Plan, SkippedQuestion, wanted
from karenina_core.runs.plans.prepared import AnswerMatch, answers_missing, match_answers, with_answers
from karenina_core.runs.plans.subset import choose_questions, questions_of
from karenina_core.runs.plans.topup import top_up, widened
from karenina_core.runs.revisions.reverify import Flip, FlipList, flips, preview, reverify
from karenina_core.runs.store import BenchmarkRow, RunRow, RunStatus, Store
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

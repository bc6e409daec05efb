"""Benchmarks: questions, templates and rubrics, and the files they live in."""

from karenina_core.benchmark.base import UnknownQuestionError
from karenina_core.benchmark.benchmark import Benchmark, load_checkpoint
from karenina_core.benchmark.checkpoint.repairs import Repair
from karenina_core.benchmark.editing import RemovedQuestion
from karenina_core.benchmark.entry import BenchmarkQuestion
from karenina_core.benchmark.problems import Problem
from karenina_core.benchmark.question_state import QuestionState, question_states
from karenina_core.benchmark.readiness import Health
from karenina_core.benchmark.workspace_copy import WorkspaceCopy, WorkspaceError

__all__ = [
    "Benchmark",
    "BenchmarkQuestion",
    "Health",
    "Problem",
    "QuestionState",
    "RemovedQuestion",
    "Repair",
    "UnknownQuestionError",
    "WorkspaceCopy",
    "WorkspaceError",
    "load_checkpoint",
    "question_states",
]

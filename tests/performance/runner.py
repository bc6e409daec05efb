"""One way to carry out the workload, in a process of its own; prints one line of JSON.

python -m tests.performance.runner workbench --port 8099 --questions 200 --concurrency 32
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.performance import workload

ANSWER_SYSTEM = "You are an expert assistant. Answer the question accurately and concisely."
JUDGE_SYSTEM = "Extract the requested fields from the response. Return only a JSON object that matches the schema."
FORMAT = {"type": "json_schema", "json_schema": {"name": "Answer", "strict": True, "schema": workload.SCHEMA}}
Chat = Callable[..., Awaitable[str]]
Measured = dict[str, Any]


def run_workbench(port: int, questions: int, concurrency: int, **settings: Any) -> Measured:
    """The whole pipeline with a durable store, as `Benchmark.run_verification` runs it; libraries are loaded before."""
    from karenina_core.models import preload
    from karenina_core.runs import Engine, Store, wanted
    from karenina_core.schemas import VerificationConfig

    model = workload.model(port, **settings)
    config = VerificationConfig(answering_models=[model], parsing_models=[model], max_concurrent_requests=concurrency)
    made = workload.benchmark(questions)
    preload([model])
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "store.db") as store, Engine(store) as run:
        plan = wanted(made, config)
        with Meter() as meter:
            run_id = store.runs.create(plan)
            run.start(run_id)
            seen = run.wait(run_id)
        return {**meter.measured, "passed": seen.passed}


def run_workbench_litellm(port: int, questions: int, concurrency: int) -> Measured:
    """The same, with every call through litellm."""
    # An address of a model's own is called directly; litellm finds this one in the environment.
    os.environ |= {"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1", "OPENAI_API_KEY": "x"}
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm  # noqa: F401  # outside the measurement, as for the bare calls

    settings = {"interface": "litellm", "model_provider": "openai", "endpoint_base_url": None}
    return run_workbench(port, questions, concurrency, **settings)


def run_litellm(port: int, questions: int, concurrency: int) -> Measured:
    """Bare `litellm.acompletion`: workers over one iterator, nothing stored."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    sent = {"api_base": f"http://127.0.0.1:{port}/v1", "api_key": "x", "temperature": 0, "max_retries": 0}

    async def chat(messages: list[dict[str, str]], **options: Any) -> str:
        reply = await litellm.acompletion(model="openai/mock", messages=messages, num_retries=0, **sent, **options)
        return str(reply.choices[0].message.content)

    return asyncio.run(_evaluate_all(chat, questions, concurrency))


def run_aiohttp(port: int, questions: int, concurrency: int) -> Measured:
    """A bare HTTP client: what the machine can do, nothing stored."""
    import aiohttp

    async def work() -> Measured:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def chat(messages: list[dict[str, str]], **options: Any) -> str:
                body = {"model": "mock", "messages": messages, "temperature": 0, **options}
                async with session.post(f"http://127.0.0.1:{port}/v1/chat/completions", json=body) as reply:
                    return str((await reply.json())["choices"][0]["message"]["content"])

            return await _evaluate_all(chat, questions, concurrency)

    return asyncio.run(work())


async def _evaluate_all(chat: Chat, questions: int, concurrency: int) -> Measured:
    waiting = iter(enumerate(workload.truths(questions)))
    passed = 0

    async def worker() -> None:
        nonlocal passed
        for number, truth in waiting:
            text = workload.question(number, truth)
            answer = await chat(_messages(ANSWER_SYSTEM, text))
            asked = f"Question:\n{text.split(' <<')[0]}\n\nResponse:\n{answer}"
            reply = await chat(_messages(JUDGE_SYSTEM, asked), response_format=FORMAT)
            passed += json.loads(reply) == truth

    with Meter() as meter:
        await asyncio.gather(*(worker() for _ in range(concurrency)))
    return {**meter.measured, "passed": passed}


def _messages(system: str, user: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


class Meter:
    """Measures wall time in seconds, CPU time of this process in seconds, and its peak memory in MB."""

    def __enter__(self) -> Meter:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        wall, cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        peak = _peak_mb()
        self.measured = {"wall": wall, "cpu": cpu, "peak_mb": round(peak, 1)}


def _peak_mb() -> float:
    status = Path("/proc/self/status")
    if status.exists():  # what `resource` says may be the memory of the process that started this one
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


KINDS: dict[str, Callable[[int, int, int], Measured]] = {
    "workbench": run_workbench,
    "workbench-litellm": run_workbench_litellm,
    "litellm": run_litellm,
    "aiohttp": run_aiohttp,
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    for name in ("port", "questions", "concurrency"):
        parser.add_argument(f"--{name}", type=int, required=True)
    given = parser.parse_args()
    print(json.dumps(KINDS[given.kind](given.port, given.questions, given.concurrency)), flush=True)

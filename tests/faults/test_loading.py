"""Heavy libraries that are broken: nothing waits for them that does not need them, the first page least of all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = ("litellm", "torch", "sentence_transformers", "plotly", "scipy", "statsmodels", "openpyxl", "llama_cpp")
BREAK = f"import sys; sys.modules |= dict.fromkeys({HEAVY!r})"  # whoever imports one of them fails
FIRST_PAGE = """
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=60).run()
print(app.title[0].value, len(app.exception), len(app.error))
"""
RUN = """
from karenina_core.runs import Engine, Store
from tests.faults.openai_server import OpenAIServer
from tests.faults.road import PATIENCE, Road, honest
with OpenAIServer(honest) as server, Store.open() as store, Engine(store) as runner:
    print(Road(store, runner, server).run(3)[2].verdict)
"""
CASES = {
    "the first page": (FIRST_PAGE, "Karenina Workbench 0 0"),
    "a run over the OpenAI protocol": (RUN, "pass"),
}


@pytest.mark.parametrize(("script", "output"), CASES.values(), ids=CASES)
def test_what_does_not_need_a_heavy_library_does_without(script: str, output: str, tmp_path: Path) -> None:
    environment = {**os.environ, "KARENINA_DATABASE_URL": f"sqlite:///{tmp_path / 'karenina.db'}"}
    command = [sys.executable, "-c", f"{BREAK}\n{script}"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1] == output

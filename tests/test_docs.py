"""The documentation is true: tables agree with the code, links lead somewhere, commands exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic_core import PydanticUndefined

from karenina_core.schemas.primitives import REGISTRY, TracePrimitive

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")}
KIND_NAMES = {"literal": "Literal[…]", "date": "str"}


def test_the_readme_is_short_and_has_exactly_two_set_up_commands() -> None:
    assert len(README.splitlines()) <= 130
    assert README.count("python3 -m venv") == README.count("<!-- ") == 2


@pytest.mark.parametrize("page", ["README.md", *DOCS])
def test_links_lead_to_files(page: str) -> None:
    text, folder = (README, ROOT) if page == "README.md" else (DOCS[page], ROOT / "docs")
    links = re.findall(r'\]\((?!http)([^)#]+)|src(?:set)?="([^"]+)"', text)
    assert not [link for pair in links for link in pair if link and not (folder / link).exists()]


def test_all_primitives_are_listed_with_their_fields_and_parameters() -> None:
    rows = re.findall(r"^\| `(\w+)`( †)? \| (.+?) \| (.+?) \|", DOCS["templates.md"], re.MULTILINE)
    assert {name: (dagger.strip(), fields, parameters) for name, dagger, fields, parameters in rows} == {
        name: documented(primitive) for name, primitive in REGISTRY.items()
    }


def documented(primitive: type) -> tuple[str, str, str]:
    fields = ", ".join(
        f"`{name}`" for name in dict.fromkeys(KIND_NAMES.get(kind, kind) for kind in primitive.applies_to)
    )
    parameters = []
    for name, field in primitive.model_fields.items():
        default = field.get_default(call_default_factory=True)
        shown = repr(default).replace("'", '"')
        parameters.append(f"`{name}`" if default is PydanticUndefined else f"`{name}={shown}`")
    ignores_truth = not issubclass(primitive, TracePrimitive) and not primitive.uses_ground_truth
    return "†" if ignores_truth else "", fields, ", ".join(parameters) or "–"


def test_all_environment_variables_are_documented() -> None:
    sources = [ROOT / "app.py", *(ROOT / "karenina_core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
    used = {name for path in sources for name in re.findall(r"KARENINA_[A-Z_]*[A-Z]", path.read_text(encoding="utf-8"))}
    assert used == set(re.findall(r"KARENINA_[A-Z_]*[A-Z]", DOCS["sharing.md"]))


def test_all_commands_are_named_in_the_readme() -> None:
    helped = subprocess.run(
        [sys.executable, "-m", "karenina_core", "--help"], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    commands = set(re.findall(r"^    (\w+) ", helped, re.MULTILINE))
    assert len(commands) > 8
    section = README.split("## From the command line")[1].split("## ")[0]
    assert commands <= set(re.findall(r"\w+", section))

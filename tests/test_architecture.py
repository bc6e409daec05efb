"""The rules of the project, as tests: layers, public packages, sizes, no Streamlit in the core, no dangerous calls."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = ROOT / "karenina_core"

# Lowest first. A package imports only from packages before it; files in the root of the core are the base.
LAYERS = [
    "base",
    "schemas",
    "templates",
    "benchmark",
    "authoring",
    "models",
    "agents",
    "pipeline",
    "runs",
    "analysis",
    "demo",
    "cli",
]
# People write these paths in code of their own; the same names are in `karenina_core.schemas`.
PUBLIC_PATHS = {
    "karenina_core.schemas.entities",
    "karenina_core.schemas.entities.normalizers",
    "karenina_core.schemas.entities.question",
    "karenina_core.schemas.primitives",
}
# Code lines: not blank, comment, docstring or import. These numbers may only fall.
MOST_CODE_LINES = {
    "base": 570,
    "schemas": 1_865,
    "templates": 2_550,
    "benchmark": 3_120,
    "authoring": 2_198,
    "models": 2_655,
    "agents": 800,
    "pipeline": 1_345,
    "runs": 4_200,
    "analysis": 3_790,
    "demo": 130,
    "cli": 600,
    "pages": 8_122,
}
MOST_CORE_FILES = 204
ENTRY_POINTS = {"__init__", "__main__"}

CORE_FILES = sorted(CORE.rglob("*.py"))
PAGE_FILES = [*sorted((ROOT / "pages").rglob("*.py")), ROOT / "app.py"]
ALL_FILES = [*CORE_FILES, *PAGE_FILES]


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def package_of(module: str) -> str:
    first = module.split(".")[1] if "." in module else "__init__"
    return "base" if (CORE / f"{first}.py").exists() and first not in ENTRY_POINTS else first


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 2 else parts)


def is_module(name: str) -> bool:
    path = ROOT / Path(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the module of every import; the submodule where one is imported by name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                yield node.lineno, submodule if is_module(submodule) else node.module


def code_lines(path: Path) -> int:
    text = path.read_text(encoding="utf-8")
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        is_docstring = isinstance(body, list) and body and isinstance(body[0], ast.Expr)
        if is_docstring and isinstance(getattr(body[0], "value", None), ast.Constant):
            skipped.update(range(body[0].lineno, body[0].end_lineno + 1))
        if isinstance(node, ast.Import | ast.ImportFrom):
            skipped.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(1 for number, line in lines if number not in skipped and line.strip() and line.strip()[0] != "#")


@pytest.mark.parametrize("path", CORE_FILES, ids=relative)
def test_a_package_imports_only_from_packages_below(path: Path) -> None:
    own = package_of(module_name(path))
    if own in ENTRY_POINTS:
        return
    for line, name in imports(path):
        if name.startswith("karenina_core."):
            other = package_of(name)
            assert LAYERS.index(other) <= LAYERS.index(own), f"{path.name}:{line} imports {name} from a higher package"


def public_names(package: str) -> set[str]:
    """Return what a package offers, as its `__init__.pyi` lists it."""
    stub = CORE / package / "__init__.pyi"
    tree = ast.parse(stub.read_text(encoding="utf-8")) if stub.exists() else ast.Module([], [])
    return {alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}


@pytest.mark.parametrize("path", ALL_FILES, ids=relative)
def test_other_packages_are_imported_from_as_a_whole(path: Path) -> None:
    own = package_of(module_name(path)) if path in CORE_FILES else "pages"
    if own in ENTRY_POINTS:
        return
    for line, name in imports(path):
        other = package_of(name)
        inside = name.removeprefix(f"karenina_core.{other}.")
        deep = name.startswith(f"karenina_core.{other}.") and inside not in public_names(other)
        if deep and other != own and name not in PUBLIC_PATHS:
            pytest.fail(f"{path.name}:{line} imports {name}: import from karenina_core.{other}")


def test_every_package_has_its_layer() -> None:
    packages = {package_of(module_name(path)) for path in CORE_FILES} - ENTRY_POINTS
    assert packages == set(LAYERS)


def test_no_package_grows() -> None:
    sizes = Counter()
    for path in CORE_FILES:
        sizes[package_of(module_name(path))] += code_lines(path)
    sizes["pages"] = sum(map(code_lines, PAGE_FILES))
    grown = {name: (sizes[name], most) for name, most in MOST_CODE_LINES.items() if sizes[name] > most}
    assert not grown, "remove a mechanism before adding one"
    assert len(CORE_FILES) <= MOST_CORE_FILES


@pytest.mark.parametrize("path", CORE_FILES, ids=relative)
def test_the_core_does_not_know_streamlit(path: Path) -> None:
    assert not [name for _, name in imports(path) if name.split(".")[0] in ("streamlit", "pages")]


def test_modules_import_each_other_in_no_circle() -> None:
    known = {module_name(path) for path in CORE_FILES}
    edges = {
        module_name(path): {name for _, name in imports(path) if name in known and name != module_name(path)}
        for path in CORE_FILES
    }
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, f"import circle: {' -> '.join([*trail, name])}"
        if name in done:
            return
        for other in edges.get(name, ()):
            visit(other, (*trail, name))
        done.add(name)

    for name in sorted(known):
        visit(name, ())


FORBIDDEN_CALLS = {"exec", "eval", "compile", "__import__"}
FORBIDDEN_MODULES = {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}


@pytest.mark.parametrize("path", ALL_FILES, ids=relative)
def test_nothing_executes_or_unpickles_foreign_data(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in FORBIDDEN_CALLS, f"{path.name}:{node.lineno} calls {node.func.id}"
        if isinstance(node, ast.keyword) and node.arg in ("unsafe_allow_html", "unsafe_allow_javascript"):
            assert not getattr(node.value, "value", True), f"{path.name}:{node.lineno} allows raw markup"
    for line, name in imports(path):
        assert name.split(".")[0] not in FORBIDDEN_MODULES, f"{path.name}:{line} imports {name}"


@pytest.mark.parametrize("path", ALL_FILES, ids=relative)
def test_foreign_json_goes_through_one_reader(path: Path) -> None:
    """`json.load` has no limits; `karenina_core.files` has."""
    if path.name in ("patterns.py", "files.py"):
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
        ):
            call = f"{node.func.value.id}.{node.func.attr}"
            assert call != "json.load", f"{path.name}:{node.lineno}: read files with karenina_core.files.read_json"


def test_importing_the_core_loads_nothing_heavy() -> None:
    heavy = ["litellm", "pandas", "plotly", "streamlit", "torch", "sentence_transformers", "sqlalchemy", "openpyxl"]
    script = (
        f"import sys, karenina_core.benchmark, karenina_core.schemas; print([m for m in {heavy!r} if m in sys.modules])"
    )
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert output.stdout.strip() == "[]"


def test_no_file_is_named_after_nothing() -> None:
    assert not [path for path in ALL_FILES if path.stem in ("utils", "helpers", "misc", "common", "manager")]


def calls(path: Path) -> Iterator[tuple[ast.Call, str]]:
    """Yield every call with its dotted name, such as `json.loads`; the last name alone where it is not dotted."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Attribute):
                owner = function.value.id if isinstance(function.value, ast.Name) else ""
                yield node, f"{owner}.{function.attr}"
            elif isinstance(function, ast.Name):
                yield node, function.id


def is_own_text(node: ast.expr) -> bool:
    """Say whether a pattern is a literal, or made of literals, escaped texts and names of constants."""
    match node:
        case ast.Constant():
            return True
        case ast.JoinedStr(values=parts):
            return all(is_own_text(part) for part in parts)
        case ast.FormattedValue(value=value):
            return is_own_text(value)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return is_own_text(left) and is_own_text(right)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr="escape")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Constant(), attr="join"), args=[joined]):
            return is_own_text(joined)
        case ast.List(elts=parts):
            return all(is_own_text(part) for part in parts)
        case ast.Starred(value=value):
            return is_own_text(value)
        case ast.Name(id=name):
            return name.lstrip("_").isupper()
    return False


# The only files that may make a raw call; all others use them. JSON of models' replies has a reader of its own, which
# looks for objects within prose.
RAW_CALLS = {
    "json.load": {"files.py"},
    "json.loads": {"files.py"},
    "json.JSONDecoder": {"structured.py"},
    "unicodedata.normalize": {"text.py"},
    "csv.writer": {"sheets.py"},
    "csv.DictWriter": set(),
    "yaml.load": set(),
    "zipfile.ZipFile": {"archive.py"},
    "tarfile.open": set(),
    "ZipFile": set(),
    "zipfile.Path": set(),
    "shutil.unpack_archive": set(),
    "load_workbook": {"excel.py"},
    "openpyxl.load_workbook": set(),
    "pd.read_excel": set(),
    "pandas.read_excel": set(),
    "Workbook": {"sheets.py"},
    "openpyxl.Workbook": set(),
    "expat.ParserCreate": set(),
    "parquet.ParquetFile": {"parquet.py"},
    "st.html": {"figure.py"},
}
WRITERS = {"write_text", "write_bytes", "to_excel", "to_pickle", "to_html"}


@pytest.mark.parametrize("path", ALL_FILES, ids=relative)
def test_raw_calls_are_made_in_one_place(path: Path) -> None:
    for node, name in calls(path):
        assert path.name in RAW_CALLS.get(name, {path.name}), f"{path.name}:{node.lineno} calls {name}"
        assert name.rpartition(".")[2] not in WRITERS, f"{path.name}:{node.lineno}: use write_atomic"
        if name.rpartition(".")[2] in ("open", "fdopen") and path.name != "files.py":
            modes = [*node.args[:2], *(keyword.value for keyword in node.keywords if keyword.arg == "mode")]
            written = [mode.value for mode in modes if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
            assert not [mode for mode in written if len(mode) <= 3 and set(mode) & set("wax+")], (
                f"{path.name}:{node.lineno}: write files with karenina_core.files.write_atomic"
            )


@pytest.mark.parametrize("path", ALL_FILES, ids=relative)
def test_patterns_from_elsewhere_run_on_a_budget(path: Path) -> None:
    """A pattern given to `re` is the workbench's own; all others go through `karenina_core.patterns`."""
    if path.name == "patterns.py":
        return
    functions = {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
    for node, name in calls(path):
        owner, _, function = name.rpartition(".")
        if owner in ("re", "regex") and function in functions:
            assert is_own_text(node.args[0]), f"{path.name}:{node.lineno}: use karenina_core.patterns"


# Elements that render Markdown in their first argument, and names of attributes that hold foreign text.
MARKDOWN = {"markdown", "write", "caption", "info", "warning", "error", "success", "title", "header", "subheader",
            "expander", "toast", "metric", "button", "checkbox", "toggle", "go"}  # fmt: skip
FOREIGN = {"name", "description", "question", "raw_answer", "text", "reason", "version", "pattern", "author",
           "keywords", "answer", "answering_model", "parsing_model", "item", "why", "what", "next", "reply",
           "content"}  # fmt: skip


def bare_attributes(node: ast.expr) -> Iterator[ast.Attribute]:
    """Yield the attributes with foreign text that reach an expression's text as they are."""
    match node:
        case ast.JoinedStr(values=parts):
            for part in parts:
                yield from bare_attributes(part)
        case ast.FormattedValue(value=value):
            yield from bare_attributes(value)
        case ast.BinOp(left=left, right=right):
            yield from bare_attributes(left)
            yield from bare_attributes(right)
        case ast.IfExp(body=body, orelse=orelse):
            yield from bare_attributes(body)
            yield from bare_attributes(orelse)
        case ast.BoolOp(values=values):
            for value in values:
                yield from bare_attributes(value)
        case ast.Call(func=ast.Attribute(value=value)):
            yield from bare_attributes(value)
        case ast.Attribute(attr=attribute, value=ast.Name(id=owner)) if attribute in FOREIGN and owner != "spec":
            yield node


@pytest.mark.parametrize("path", sorted((ROOT / "pages").rglob("*.py")), ids=relative)
def test_foreign_text_reaches_markdown_only_escaped(path: Path) -> None:
    for node, name in calls(path):
        if name.rpartition(".")[2] in MARKDOWN and "." in name and node.args:
            titles = [keyword.value for keyword in node.keywords if keyword.arg in ("title", "help", "label")]
            for argument in [node.args[0], *titles]:
                for bare in bare_attributes(argument):
                    pytest.fail(f"{path.name}:{bare.lineno}: {ast.unparse(bare)} needs plain() or rendered()")

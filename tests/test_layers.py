"""The order of imports, the size of files and functions, and what may stand nowhere in the tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "muco"
MODULES = sorted(PACKAGE.rglob("*.py"))
RUST = sorted((ROOT / "core" / "src").rglob("*.rs"))
# errors < words < nouns < the algorithm < assess < what stands on it < the doors. Any other module is a noun.
LAYERS: tuple[set[str], ...] = (
    {"errors", "_core"},
    {"switches", "arrays"},
    set(),
    {"steps", "anonymize", "baselines"},
    {"assess"},
    {"report", "tune", "paper"},
    {"cli", "spark", "studio"},
)
NOUNS, DOORS = 2, 6
TEXTS = [
    *MODULES,
    *RUST,
    *(p for p in sorted(ROOT.iterdir()) if p.suffix in {".md", ".toml"} or p.name == "Makefile"),
    *(
        p
        for folder in ("tests", "docs", "bench", "attacks", "core/benches", ".ci")
        for p in sorted((ROOT / folder).rglob("*"))
        if p.is_file() and p.suffix in {".py", ".md", ".rs", ".toml", ".txt", ""}
    ),
]


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


NAMES = {name_of(path) for path in MODULES}


def layer(module: str) -> int:
    top = module.split(".", maxsplit=1)[0]
    return next((place for place, names in enumerate(LAYERS) if top in names), NOUNS)


def home(name: str) -> str:
    """The module that a dotted name below `muco` stands in."""
    while name and name not in NAMES and name != "_core":
        name = name.rpartition(".")[0]
    return name


def imports(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (home(alias.name[5:]) for alias in node.names if alias.name.startswith("muco."))
    if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "muco":
        below = (node.module or "")[5:]
        yield from (home(f"{below}.{alias.name}".strip(".")) for alias in node.names)


def statements(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What runs while a module is imported: neither functions, nor what only a type checker sees."""
    for statement in body:
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            continue
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from ast.walk(statement)


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def code_of(path: Path) -> str:
    """A Rust file without its tests and comments."""
    return re.sub(r"//.*", "", path.read_text("utf-8").split("#[cfg(test)]")[0])


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_one_way(path: Path) -> None:
    # The package itself only names where things are; it loads them when they are asked for.
    module = name_of(path)
    if not module:
        return
    for target in {target for node in ast.walk(parse(path)) for target in imports(node)} - {""}:
        assert layer(target) <= layer(module), f"{module} imports {target}, which stands above it"


def test_one_door_does_not_open_into_another() -> None:
    for path in MODULES:
        module = name_of(path)
        if layer(module) == DOORS:
            targets = {target for node in ast.walk(parse(path)) for target in imports(node)}
            others = {t for t in targets if layer(t) == DOORS and t.split(".")[0] != module.split(".")[0]}
            assert not others, f"{module} imports {others}"


def test_no_two_modules_wait_for_each_other() -> None:
    edges = {
        name_of(path): {t for node in statements(parse(path).body) for t in imports(node)} - {"_core"}
        for path in MODULES
    }
    left = dict(edges)
    while free := {name for name, targets in left.items() if not (targets - {name}) & left.keys()}:
        left = {name: targets for name, targets in left.items() if name not in free}
    assert not left, f"modules in a circle, or behind one: {sorted(left)}"


def test_only_the_border_names_pyo3() -> None:
    border = ROOT / "core" / "src" / "python"
    named = [path for path in RUST if re.search(r"\b(pyo3|numpy)\b", code_of(path))]
    assert named and all(path.is_relative_to(border) for path in named), [relative(path) for path in named]


def test_the_core_neither_unwraps_nor_panics_nor_is_unsafe() -> None:
    banned = re.compile(r"\.unwrap\(\)|\.expect\(|\bunsafe\b|\bpanic!|\btodo!|\bunimplemented!|\bunreachable!")
    found = [f"{relative(path)}: {word}" for path in RUST for word in banned.findall(code_of(path))]
    assert found == []


@pytest.mark.parametrize("path", [path for path in TEXTS if path.suffix in {".py", ".rs"}], ids=relative)
def test_a_file_is_read_in_one_sitting(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= 300


def test_algorithm_1_is_read_at_one_glance() -> None:
    assert len((PACKAGE / "anonymize.py").read_text("utf-8").splitlines()) < 120


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_python_function_fits_on_a_screen(path: Path) -> None:
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.FunctionDef):
            described = ast.get_docstring(node) is not None
            first = node.body[1 if described and len(node.body) > 1 else 0]
            length = (node.end_lineno or 0) - first.lineno + 1
            assert length <= 60, f"{node.name} has {length} lines"


@pytest.mark.parametrize("path", RUST, ids=relative)
def test_a_rust_function_fits_on_a_screen(path: Path) -> None:
    # rustfmt closes a function with a brace under the first letter of its head.
    for match in re.finditer(r"^( *)(?:pub(?:\(\w+\))? )?fn (\w+).*?\n\1}", path.read_text("utf-8"), re.M | re.S):
        assert match.group(0).count("\n") + 1 <= 60, match.group(2)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nothing_random_is_global_and_nothing_is_pickled(path: Path) -> None:
    for node in ast.walk(parse(path)):
        named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        named += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        named += [ast.unparse(node)] if isinstance(node, ast.Attribute) else []
        named += [node.func.id] if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else []
        banned = {"random", "pickle", "numpy.random", "np.random", "eval", "exec", "marshal", "shelve"}
        assert not banned & set(named), f"line {getattr(node, 'lineno', 0)}"


def test_nothing_names_a_machine_or_an_index() -> None:
    # Written apart, so that this file passes its own test.
    banned = re.compile("|".join(["/" + "(?:work|home|root|Users)/" + r"\w", r"py" + r"pi\.org", "index-" + "url"]))
    found = [f"{relative(p)}: {word}" for p in TEXTS for word in banned.findall(p.read_text("utf-8"))]
    assert found == []


def test_nothing_is_left_to_do() -> None:
    banned = re.compile("|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "NotImplemented" + "Error"]))
    found = [f"{relative(p)}: {word}" for p in TEXTS for word in banned.findall(p.read_text("utf-8"))]
    assert found == []

"""What README and docs say runs: snippets, command lines, docstring examples; and all that is public has a page."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import muco
from muco.example import generate, policy_text
from muco.switches import Preset

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = sorted(
    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "src" / "muco").rglob("*.py")
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MUCO = Path(sys.executable).with_name("muco")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)


def relative(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def commands(page: Path) -> Iterator[tuple[str, str]]:
    """Each `$ muco ...` line of a page's console blocks, with the output shown below it."""
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.M)[1:]:
            line, _, shown = part.partition("\n")
            if line.startswith("muco "):
                yield line, shown


def plain(text: str) -> str:
    """What a text says, whatever its numbers, its wrapping and its columns' widths."""
    return " ".join(re.sub(r"\d[\d,.]*", "#", text).split())


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example table and a policy for each preset, as the pages assume it."""
    folder = tmp_path_factory.mktemp("docs")
    generate(20_000).write_csv(folder / "census.csv")
    (folder / "policy.toml").write_text(policy_text(), "utf-8")
    (folder / "paper.toml").write_text(policy_text(Preset.PAPER), "utf-8")
    return folder


@pytest.fixture
def folder(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a test's own with the same files."""
    for path in example.iterdir():
        (tmp_path / path.name).hardlink_to(path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=relative)
def test_every_python_snippet_runs(page: Path) -> None:
    # The snippets of a page stand in one namespace, in their order; those with >>> show what comes out.
    names: dict[str, object] = {}
    runner, parser = doctest.DocTestRunner(optionflags=FLAGS), doctest.DocTestParser()
    for number, block in enumerate(blocks(page, "python"), start=1):
        name = f"{page.name}, snippet {number}"
        if ">>>" not in block:
            exec(compile(block, name, "exec"), names)  # noqa: S102 - our own pages
            continue
        test = parser.get_doctest(block, names, name, str(page), 0)
        said: list[str] = []
        runner.run(test, out=said.append, clear_globs=False)
        names.update(test.globs)
        assert not said, "".join(said)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", [page for page in PAGES if list(commands(page))], ids=relative)
def test_every_command_line_runs_and_says_what_is_shown(page: Path) -> None:
    for line, shown in commands(page):
        words = shlex.split(line, comments=True)
        done = subprocess.run(
            [MUCO, *words[1:]],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1"},
            timeout=300,
        )
        code = int(found[1]) if (found := re.search(r"# exits with (\d+)", line)) else 0
        assert done.returncode == code, f"{line}\n{done.stderr}"
        pattern = re.escape(plain(shown)).replace(re.escape("..."), ".*")
        said = plain(done.stdout + done.stderr)
        assert not shown.strip() or re.fullmatch(pattern, said), f"{line}\n{said}"


@pytest.mark.parametrize("module", [name for name in MODULES if not name.endswith("__main__")])
def test_docstring_examples_run(module: str) -> None:
    assert doctest.testmod(import_module(module), optionflags=FLAGS).failed == 0


@pytest.mark.parametrize("name", muco.__all__)
def test_every_public_name_has_its_page(name: str) -> None:
    named = re.compile(rf"`(muco\.)?{name}\b")
    assert any(named.search(page.read_text("utf-8")) for page in (ROOT / "docs").glob("*.md"))


def test_every_module_of_a_public_name_and_every_one_below_the_package_is_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    modules = {"muco." + home for home in vars(sys.modules["muco"])["_HOME"].values()}
    modules |= {module for module in MODULES if module.count(".") == 1}
    assert [module for module in sorted(modules) if f"`{module}`" not in index] == []


def test_every_option_is_on_the_page_of_the_command_line() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    helps = [path.read_text("utf-8") for path in sorted((ROOT / "tests" / "help").glob("*.txt"))]
    # An option may stand there by its short name: `-o RELEASE`.
    options = {found for text in helps for found in re.findall(r"│ [* ]*(--[a-z-]+) *(-[a-z])?\b", text)}
    is_named = {(long, short): long in page or (short and f"`{short}" in page) for long, short in options}
    assert [long for (long, _), named in sorted(is_named.items()) if not named] == []


def test_every_page_can_be_reached_from_the_index() -> None:
    linked = {(ROOT / "docs" / target).resolve() for target in links(ROOT / "docs" / "index.md")}
    pages = {page for page in (ROOT / "docs").rglob("*.md") if page.name != "index.md"}
    assert pages - linked == set()


def links(page: Path) -> list[str]:
    return [t.split("#")[0] for t in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")) if "://" not in t]


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_every_link_between_pages_leads_somewhere(page: Path) -> None:
    assert [target for target in links(page) if target and not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_file_names_in_pages_exist(page: Path) -> None:
    named = re.findall(r"`((?:core|src|tests|bench|docs)/[\w/.-]+\.(?:rs|py|pyi|md))`", page.read_text("utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []

"""README and docs are true: snippets run, shown output is their output, names exist."""

import doctest
import io
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

import dalembert as da
from dalembert import cli

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PYTHON = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```\n", re.DOTALL | re.MULTILINE)      # which the page tells its reader to write
CONSOLE = re.compile(r"^<!-- run -->\n```console\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
PROGRAM = f'dalembert() {{ "{sys.executable}" -m dalembert.cli "$@"; }}; '      # also where it is not on the path
LIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE      # '...' stands for any output


EACH_PAGE = pytest.mark.parametrize("path", PAGES, ids=[str(p.relative_to(ROOT).with_suffix("")).removeprefix("docs/") for p in PAGES])


def agree(shown, printed, where):
    assert doctest.OutputChecker().check_output(shown, printed, LIKE), f"{where} shows\n{shown}\nbut it prints\n{printed}"


@pytest.fixture
def folder(path, tmp_path):
    """The folder of the page's reader, with the sources by links and the page's files: what a page writes stays there."""
    for source in ("benchmarks", "docs", "src", "tests"):
        (tmp_path / source).symlink_to(ROOT / source)
    for name, text in FILE.findall(path.read_text(encoding="utf-8")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@EACH_PAGE
def test_python_snippets_run_and_print_what_the_page_shows(path, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    names = {"__name__": "__main__"}
    for code, output in PYTHON.findall(path.read_text(encoding="utf-8")):      # of one page, in order, in one namespace
        exec(compile(code, str(path), "exec"), names)
        printed = capsys.readouterr().out
        assert bool(printed) == bool(output), f"{path.name}: prints {printed!r}, but shows {output!r}"
        agree(output, printed, path.name)


def played(command, folder, temporary):
    """(exit code, output) of a command line; those of this program alone run in this process, which spares its start."""
    command = command.replace("$(mktemp -d)", str(temporary))
    words = shlex.split(command, comments=True)
    if words[0] == "dalembert" and not set("|$;&<>`") & set(command):
        printed = io.StringIO()
        with redirect_stdout(printed), redirect_stderr(printed):
            return cli.run(words[1:]), printed.getvalue()
    done = subprocess.run(PROGRAM + command, shell=True, cwd=folder, text=True, encoding="utf-8",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


@EACH_PAGE
def test_console_commands_marked_to_run_print_what_the_page_shows(path, folder, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(folder)
    for block in CONSOLE.findall(path.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, output = part.split("\n", 1)
            if command.startswith("cc ") and not shutil.which("cc"):
                continue
            expected = re.search(r"# exit (\d+)$", command)
            code, printed = played(command, folder, tmp_path_factory.mktemp("output"))
            assert code == (int(expected[1]) if expected else 0), printed
            agree(output, printed, command)


@EACH_PAGE
def test_names_of_the_package_exist_unless_the_section_is_called_planned(path):
    text = path.read_text(encoding="utf-8")
    today = re.sub(r"^## Planned.*?(?=^## |\Z)", "", text, flags=re.DOTALL | re.MULTILINE)
    used = set(re.findall(r"\bda\.(\w+)", today))
    assert used <= set(dir(da)), used - set(dir(da))


@pytest.mark.parametrize("path", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda p: p.stem)
def test_links_lead_to_files(path):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_first_steps_begin_with_the_command_of_the_readme():
    setup, first = (re.search(r"^\$ (python3 .*)$", path.read_text(encoding="utf-8"), re.MULTILINE)[1]
                    for path in (ROOT / "README.md", ROOT / "docs" / "first_steps.md"))
    assert setup == first


def test_result_of_the_readme_takes_less_than_15_lines():
    code, output = PYTHON.findall((ROOT / "README.md").read_text(encoding="utf-8"))[0]
    assert output and len(code.splitlines()) < 15

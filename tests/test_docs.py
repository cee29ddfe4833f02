"""README and docs are true: snippets run, shown output is their output, names exist."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dalembert as da

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PYTHON = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)
CONSOLE = re.compile(r"^<!-- run -->\n```console\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
PROGRAM = f'dalembert() {{ "{sys.executable}" -m dalembert.cli "$@"; }}; '      # also where it is not on the path
LIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE      # '...' stands for any output


EACH_PAGE = pytest.mark.parametrize("path", PAGES, ids=[str(p.relative_to(ROOT).with_suffix("")).removeprefix("docs/") for p in PAGES])


def agree(shown, printed, where):
    assert doctest.OutputChecker().check_output(shown, printed, LIKE), f"{where} shows\n{shown}\nbut it prints\n{printed}"


@EACH_PAGE
def test_python_snippets_run_and_print_what_the_page_shows(path, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {"__name__": "__main__"}
    for code, output in PYTHON.findall(path.read_text(encoding="utf-8")):      # of one page, in order, in one namespace
        exec(compile(code, str(path), "exec"), names)
        printed = capsys.readouterr().out
        assert bool(printed) == bool(output), f"{path.name}: prints {printed!r}, but shows {output!r}"
        agree(output, printed, path.name)


@EACH_PAGE
def test_console_commands_marked_to_run_print_what_the_page_shows(path):
    for block in CONSOLE.findall(path.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, output = part.split("\n", 1)
            done = subprocess.run(PROGRAM + command, shell=True, cwd=ROOT, text=True, encoding="utf-8",
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            code = re.search(r"# exit (\d+)$", command)
            assert done.returncode == (int(code[1]) if code else 0), done.stdout
            agree(output, done.stdout, command)


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


def test_result_of_the_readme_takes_less_than_15_lines():
    code, output = PYTHON.findall((ROOT / "README.md").read_text(encoding="utf-8"))[0]
    assert output and len(code.splitlines()) < 15

"""The documentation site: every page has a place in it, every public name one in its reference, and all of it opens from a disk."""

import importlib.util
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import dalembert as da
from browser import open_page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}


def hook(name):
    """A hook of the site, a module of a folder that is no package."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", DOCS / "site" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_stands_once_in_the_reference():
    reference = hook("reference")
    names = [name for page in reference.names_of().values() for name in page]
    assert sorted(names) == sorted(da.__all__)
    identifiers = [reference.identifier_of(name) for name in names]
    assert len(set(identifiers)) == len(identifiers)


def test_links_out_of_the_docs_become_text_and_names_of_files_titles():
    linked = hook("outside").linked
    assert linked("[a test](../tests/test_site.py), [files](files.md#units)", "docs", "x.md") == "a test, [files](files.md#units)"
    assert linked("see [files.md](../files.md)", "docs/tutorials", "tutorials/x.md") == "see [Robot files](../files.md)"
    assert linked("[all](../README.md), [rules](../CONTRIBUTING.md)", "docs", "x.md") == "[all](index.md), [rules](contributing.md)"
    assert linked("[docs/files.md](docs/files.md)", "", "") == "[Robot files](files.md)"


def test_every_page_stands_once_in_the_navigation():
    listed = re.findall(r"^ +- (?:.*: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert sorted(listed) == sorted(pages | {"changelog.md", "contributing.md"})


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as strictly as can be: a warning fails, which --quiet would not count."""
    pytest.importorskip("material")
    pytest.importorskip("mkdocstrings")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Fetched(HTMLParser):
    """What a page asks for when it opens."""

    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attributes):
        self.addresses.append(dict(attributes).get(FETCHED.get(tag, "")) or "")


@pytest.mark.slow
def test_pages_ask_for_nothing_from_a_network(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 60
    for page in pages:
        parser = Fetched()
        parser.feed(page.read_text(encoding="utf-8"))
        assert [a for a in parser.addresses if re.match(r"(\w+:)?//", a)] == [], page


@pytest.mark.slow
def test_formulas_are_mathematics_and_names_have_their_help(site):
    lagrange = (site / "lagrange.html").read_text(encoding="utf-8")
    assert lagrange.count("<math") > 60 and "arithmatex" not in lagrange and "\\tfrac" not in lagrange
    index = (site / "reference" / "index.html").read_text(encoding="utf-8")
    for page, anchor in set(re.findall(r'href="(\w+\.html)#(dalembert[\w.]+)"', index)):
        assert f'id="{anchor}"' in (site / "reference" / page).read_text(encoding="utf-8"), anchor


WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"      # than the window


@pytest.mark.slow
def test_all_pages_open_from_a_disk_and_fit_a_phone(site, browser):
    with open_page(browser, site / "index.html", dark=True, width=400) as opened:
        for page in sorted(site.rglob("*.html")):
            if page.name != "404.html":      # for servers alone
                opened.goto(page.resolve().as_uri())
                assert opened.evaluate(WIDER) <= 0, page


@pytest.mark.slow
@pytest.mark.parametrize("page", ["index.html", "lagrange.html", "reference/dynamics.html", "gallery/index.html"])
def test_pages_fit_a_window(site, browser, page):
    with open_page(browser, site / page, width=1400) as opened:
        assert opened.evaluate(WIDER) <= 0


@pytest.mark.slow
def test_search_finds_without_a_server(site, browser):
    with open_page(browser, site / "index.html", width=1400) as opened:
        opened.locator(".md-search__input").fill("mass matrix")
        opened.locator(".md-search-result__link").first.wait_for(timeout=20_000)

"""Pages of equations: in the order of a textbook, matrices laid out, definitions a link away."""

import re
from xml.etree import ElementTree

import pytest

import dalembert as da
from browser import open_page

from . import robots


@pytest.fixture(scope="module")
def scara_page(tmp_path_factory):
    return da.equations(robots.dense("scara"), budget=0).write(tmp_path_factory.mktemp("pages") / "scara.html")      # with named parts


@pytest.fixture(scope="module")
def scara(scara_page):
    return scara_page.read_text(encoding="utf-8")


def root(page):
    return ElementTree.fromstring(re.sub(r"<!DOCTYPE html>|<meta[^>]*>", "", page))


def test_symbols_come_first_and_named_parts_last(scara):
    ids = [x.get("id") for x in root(scara).iter("section")]
    assert ids[:4] == ["symbols", "mass_matrix", "coriolis_vector", "gravity_vector"] and ids[-2:] == ["definitions", "parameters"]
    eom = da.equations(robots.planar(2))
    assert eom.shown[:3] == ("mass_matrix", "coriolis_vector", "gravity_vector") and eom.shown[-1] == "christoffel"


def test_every_link_leads_to_a_definition_and_shows_it(scara):
    page = root(scara)
    ids = [x.get("id") for x in page.iter() if x.get("id")]
    links = [x for x in page.iter("a") if x.get("data-is")]
    assert len(ids) == len({*ids}) and links
    equations = {x.get("id"): x.get("aria-label") for x in page.iter("div") if x.get("id")}
    for link in links:
        assert equations[link.get("href")[1:]].startswith(link.get("data-is").rstrip(" …")), link.attrib
    assert all(x.get("href")[1:] in ids for x in page.iter("a"))


def test_formulas_have_no_links_inside(scara):
    assert not [a for formula in root(scara).iter("math") for a in formula.iter("a")]


def test_short_entries_stand_in_the_matrix_and_long_ones_below_it(tmp_path):
    eom = da.equations(robots.planar(3), "all")
    page = root(eom.write(tmp_path / "x.html", "mass_matrix").read_text(encoding="utf-8"))
    (section,) = (x for x in page.iter("section") if x.get("id") == "mass_matrix")
    matrix, *lines = section.findall("div")
    assert len(list(matrix.iter("mtr"))) == 3 and matrix.get("aria-label").startswith("M = rows: M11; ")
    below = {x.get("aria-label").partition(" = ")[0] for x in lines}
    assert below and below <= {"M11", "M12", "M13", "M22", "M23", "M33"}
    tex = eom.write(tmp_path / "x.tex", "mass_matrix").read_text(encoding="utf-8")
    assert r"\begin{pmatrix}" in tex and tex.index("{Symbols}") < tex.index("{Mass matrix}") < tex.index("{Base parameters}")


def test_christoffel_symbols_are_folded(tmp_path):
    page = root(da.equations(robots.planar(2)).write(tmp_path / "x.html").read_text(encoding="utf-8"))
    (section,) = (x for x in page.iter("section") if x.get("id") == "christoffel")
    assert section.find("details/summary") is not None and not section.findall("div")


def test_the_page_fits_a_telephone_shows_definitions_and_is_accessible(browser, scara_page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    with open_page(browser, scara_page, dark=True, width=360) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        link = page.locator("#mass_matrix a").first
        link.focus()
        shown = link.evaluate("x => getComputedStyle(x, '::after').content")
        assert shown.strip('"') == link.get_attribute("data-is") and " = " in shown
        found = axe.run(page).response["violations"]
        assert found == [], [(v["id"], v["nodes"][0]["html"]) for v in found]

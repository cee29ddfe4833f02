"""Reports: one page with everything, that asks for nothing, runs nothing, and says what it cannot have."""

import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import dalembert as da
from browser import open_page
from dalembert.reports.example_motion import example_motion
from dalembert.reports.motion_section import limits_of

SECTIONS = ["model", "findings", "equations", "properties", "motion", "speed", "methods"]
NASTY = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</style><b>", "\u202eevil", "'q'" * 1000, "a&b;"]
VOID = {"meta", "input", "br", "img", "link"}


class Reader(HTMLParser):
    """Elements in order, with the text; unbalanced tags are faults."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.open, self.text, self.faults = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)

    def ids(self, tag=None):
        return [a["id"] for t, a in self.elements if "id" in a and tag in (None, t)]


def named(names):
    """A 2R arm with limits, a frame and a follower, under these names."""
    bodies = [da.Body(names[0]), da.Body(names[1], 1, (0.5, 0, 0), (0, 0, 0.1, 0, 0, 0.1)), da.Body(names[2], 1, (0.5, 0, 0), (0, 0, 0.1, 0, 0, 0.1))]
    limits = da.Limits(-1, 1, velocity=1e-3, effort=100)
    joints = [da.Joint(names[3], da.Revolute((0, -1, 0)), names[0], names[1], limits=limits),
              da.Joint(names[4], da.Revolute((0, -1, 0)), names[1], names[2], da.Origin((1, 0, 0)), viscous=0.1, limits=limits)]
    return da.Mechanism(names[5], bodies, joints, [da.Frame(names[5], names[2])])


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The page of an arm, and that of one whose names are hostile, with a run that breaks limits."""
    folder = tmp_path_factory.mktemp("reports")
    arm, other = named(["base", "upper", "lower", "shoulder", "elbow", "arm"]), named(NASTY)
    run = da.simulate(other, [0, 0], [0.5, 0], 0.2, record=0.05)
    return da.report(arm, folder / "arm.html", t=0.5), da.report(other, folder / "nasty.html", run=run)


@pytest.fixture(scope="module")
def page(pages):
    return Reader(pages[0].read_text(encoding="utf-8"))


def test_a_report_has_all_sections_and_is_well_formed(page):
    assert page.ids("section")[:2] == SECTIONS[:2] and [i for i in page.ids("section") if "eq-" not in i] == SECTIONS
    assert not page.faults and not page.open and len(page.ids()) == len({*page.ids()})
    text = " ".join(page.text)
    for words in ("Mass matrix", "0 errors", "15 of 15 properties hold", "Limits of the model beside the run", "power balance", "ns per state",
                  "seed 1743", "shoulder", "Lagrange", "0.5 s"):
        assert words in text, words


def test_a_report_asks_for_nothing_and_runs_nothing(pages):
    for path in pages:
        text = path.read_text(encoding="utf-8")
        reader = Reader(text)
        assert not [tag for tag, _ in reader.elements if tag in ("script", "link", "iframe", "img", "object")]
        assert not [a for _, attributes in reader.elements for a in attributes if a.startswith("on")]
        links = [value for _, attributes in reader.elements for a, value in attributes.items() if a in ("src", "href", "xlink:href")]
        assert links and all(link[0] == "#" and link[1:] in reader.ids() for link in links)
        assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org)", text)


def test_names_from_files_are_text_and_nothing_else(pages):
    text = pages[1].read_text(encoding="utf-8")
    reader = Reader(text)
    assert not reader.faults and text.count("<style>") <= 3 and "\u202e" not in text
    shown = "".join(reader.text)
    assert max(map(len, reader.text)) < 1000 and "<script>alert(1)</script>" in shown and '"><img src=x onerror=alert(1)>' in shown and r"\u202eevil" in shown


def test_limits_that_a_run_passes_are_told_in_numbers_and_words(pages):
    text = "".join(Reader(pages[1].read_text(encoding="utf-8")).text)
    assert "2 of 6 limits passed" in text and "passed" in text
    arm = named(["base", "upper", "lower", "shoulder", "elbow", "arm"])
    run = da.simulate(arm, [0.9, 0], [2.0, 0], 0.1)
    peaks = {(p.name, p.kind): p for p in limits_of(run)}
    assert peaks["shoulder", "upper"].is_passed and peaks["shoulder", "upper"].value == run.q[:, 0].max()
    assert ("shoulder", "effort") not in peaks                                         # no drive, no effort


def test_sections_can_be_left_out(tmp_path):
    arm = da.planar_chain(1)
    page = Reader(da.report(arm, tmp_path / "x.html", equations=False, without=["motion", "speed", "properties"]).read_text(encoding="utf-8"))
    assert page.ids("section") == ["model", "findings", "methods"]
    forms = da.equations(arm, "all")
    text = da.report(arm, tmp_path / "x.html", equations=forms, without=["motion", "speed", "properties"]).read_text(encoding="utf-8")
    assert "Equations of motion" in text and "da.equations" in text


def leaning():
    """A link that its drive cannot hold out level, and hardly move."""
    body = da.Body("link", 2, (0.5, 0, 0), (0, 0.1, 0, 0, 0, 0.1))
    joint = da.Joint("hinge", da.Revolute((0, -1, 0)), "base", "link", limits=da.Limits(-3, 3, velocity=1, effort=2))
    return da.Mechanism("leaning", [da.Body("base"), body], [joint])


def falling():
    """A slide that nothing drives, above a link on a drive."""
    slide = da.Joint("slide", da.Prismatic((0, 0, -1)), "base", "cart", limits=da.Limits(0, 0.2, velocity=1))
    arm = da.Joint("arm", da.Revolute((0, -1, 0)), "cart", "link", limits=da.Limits(-3, 3, velocity=20, effort=50))
    return da.Mechanism("falling", [da.Body("base"), da.Body("cart", 1), da.Body("link", 1, (0.2, 0, 0), (0, 0.1, 0, 0, 0, 0.1))], [slide, arm])


@pytest.mark.parametrize("make", [leaning, falling])
def test_the_example_motion_keeps_the_limits_of_the_model(make):
    motion = example_motion(make(), None, 1.0)
    assert motion.run.limits_passed == () and np.ptp(motion.run.q, axis=0).max() > 0.05


@pytest.mark.parametrize("make, words", [
    (lambda: da.planar_chain(501), ["no picture of more than 300 bodies", "the first 500 of 502", "Properties are checked up to 100 velocities", "Speeds are measured"]),
    (lambda: da.planar_chain(1, mass=da.symbol("m")), ["Properties are checked with numbers", "has symbols, and a motion needs numbers", "symbols is not compiled"]),
    (lambda: da.planar_chain(13), ["With 13 velocities the closed forms are too long to read", "dalembert equations"])])
def test_parts_that_cannot_be_had_say_so(make, words, tmp_path):
    mechanism = make()
    without = ("motion", "properties", "speed") if mechanism.nv == 13 else ()
    text = "".join(Reader(da.report(mechanism, tmp_path / "x.html", without=without).read_text(encoding="utf-8")).text)
    assert all(word in text for word in words)


@pytest.mark.parametrize("names", [["base"], ["base", "plate"]])
def test_a_mechanism_that_does_not_move_has_a_report(names, tmp_path):
    bodies = [da.Body(name, 1.0) for name in names]
    plate = da.Mechanism("plate", bodies, [da.Joint("glue", da.Fixed(), "base", "plate")][: len(names) - 1])
    page = Reader(da.report(plate, tmp_path / "x.html", without=["speed"]).read_text(encoding="utf-8"))
    assert page.ids("section")[:3] == ["model", "findings", "equations"]


def test_constraints_and_their_residuals_are_reported(tmp_path):
    loop = da.planar_chain(3).constrained(da.constraints.Closure("pin", da.Spherical(), "tip", ("base", (1.2, 0, 0))))
    text = "".join(Reader(da.report(loop, tmp_path / "x.html", t=0.1, equations=False, without="speed").read_text(encoding="utf-8")).text)
    assert "1 degree of freedom" in text and "16 of 16 properties hold" in text and "Constraints are met to" in text and "pin" in text


def test_wrong_arguments_are_refused(tmp_path):
    arm = da.planar_chain(1)
    with pytest.raises(ValueError, match=r"'.*x.pdf': the name of a report ends in .html"):
        da.report(arm, tmp_path / "x.pdf")
    with pytest.raises(da.UnknownNameError, match="unknown section 'motions'.*Did you mean 'motion'"):
        da.report(arm, tmp_path / "x.html", without="motions")
    with pytest.raises(TypeError, match="equations"):
        da.report(arm, tmp_path / "x.html", equations="all")
    with pytest.raises(da.ShapeError):
        da.report(arm, tmp_path / "x.html", q=[0, 0])
    for t in (0, -1, float("nan"), "1", 1e9):
        with pytest.raises(ValueError, match="t="):
            da.report(arm, tmp_path / "x.html", t=t)


# --- in a browser ---

@pytest.mark.parametrize("dark, width", [(False, 1200), (True, 360)])
def test_pages_are_accessible_and_fit_the_screen(browser, pages, dark, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for path in pages:
        with open_page(browser, path, dark, width) as page:
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            if path == pages[dark]:
                found = axe.run(page, context={"exclude": [[".film g"]]}).response["violations"]
                assert found == [], [(v["id"], v["nodes"][0]["html"]) for v in found]


def test_without_scripts_all_is_shown(browser, pages):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(pages[0].resolve().as_uri())
        assert page.locator("svg.film").is_visible() and page.locator(".charts svg[role=img]").count() >= 4
        assert page.locator("#equations math").count() > 20 and page.locator(".picture svg").is_visible()
    finally:
        context.close()


# --- the command ---

def test_command_writes_the_page(run, tmp_path, monkeypatch):
    file = da.data.path("cartpole") if "cartpole" in getattr(da.data, "FILES", ()) else da.data.path("panda")
    page = tmp_path / "x.html"
    code, out, err = run("report", file, "-o", page, "--without", "equations,motion,speed,properties")
    assert code == 0 and out == f"{page}\n" and page.exists() and not err
    for arguments, words in ((["-o", tmp_path / "x.doc"], "ends in .html"), (["--without", "motions"], "Did you mean 'motion'"),
                             (["-o", tmp_path / "no" / "x.html", "--without", "equations,motion,speed,properties"], "there is no folder"), (["--t", "-1"], "t=-1")):
        code, out, err = run("report", file, *arguments)
        assert code == 2 and not out and words in err and err.count("\n") == 1, (arguments, err)


def test_reports_need_no_other_library(tmp_path, monkeypatch):
    for library in ("matplotlib", "xarray", "pandas", "PIL"):
        monkeypatch.setitem(sys.modules, library, None)
    da.report(da.planar_chain(1), tmp_path / "x.html", t=0.1, without=["equations", "speed"])

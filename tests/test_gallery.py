"""The gallery: every script is short, runs by itself, and makes the picture that its page shows."""

import runpy
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
SCRIPTS = sorted(GALLERY.glob("*.py"))
QUICK = {"four_bar", "own_arm"}      # run always, the others where slow tests do
LINES, BYTES = 46, 150_000


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_scripts_are_short_and_their_pictures_small_and_on_the_page(script):
    page = (GALLERY / "index.md").read_text(encoding="utf-8")
    picture = script.with_suffix(".png")
    assert len(script.read_text(encoding="utf-8").splitlines()) <= LINES
    assert picture.stat().st_size < BYTES
    assert f"]({script.name})" in page and f"]({picture.name})" in page


@pytest.mark.parametrize("script", [pytest.param(s, id=s.stem, marks=[] if s.stem in QUICK else pytest.mark.slow) for s in SCRIPTS])
def test_scripts_draw_their_pictures(script, tmp_path, monkeypatch):
    plots = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.chdir(tmp_path)
    with plots.rc_context({"backend": "Agg"}):
        plots.switch_backend("Agg")
        runpy.run_path(str(script))
        plots.close("all")
    assert [path.name for path in tmp_path.iterdir()] == [script.with_suffix(".png").name]

"""The viewer in headless Chromium: one page for a loop and its run, opened once."""


from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from browser import open_page

pytest.importorskip("viser", reason="viser is not installed (extra view)")

EVIL = "<img src=x onerror=alert(1)>/\u202e{7*7}\u00e4\"'"


@pytest.fixture(scope="module")
def loop():
    """A four-bar linkage with names that would be markup, and a run of it."""
    mechanism, q = da.loops.four_bar()
    mechanism = replace(mechanism, name=f"four-bar {EVIL}", frames=(*mechanism.frames, da.Frame(EVIL, mechanism.bodies[-1].name)))
    return mechanism, da.simulate(mechanism, q, np.zeros(mechanism.nv), 0.4, h=0.01, record=0.05)


@pytest.fixture(scope="module")
def page(browser, loop):
    """The page and its viewer; fails on errors in the console and on requests to other machines."""
    with da.view(*loop) as viewer, open_page(browser, viewer.url, width=1300, height=420) as page:
        page.get_by_text("Playback").first.wait_for(timeout=60_000)
        yield page, viewer


def scene(viewer, folder):
    """Pixels (height, width, 3) of the scene as the browser draws it."""
    from PIL import Image

    file = viewer.screenshot(folder / "scene.png", width=240, height=180)
    return np.asarray(Image.open(file).convert("RGB"), float)


def test_the_robot_is_there_and_moves(page, tmp_path):
    page, viewer = page
    first = scene(viewer, tmp_path)
    assert first.shape == (180, 240, 3) and first.std() > 5                # not blank
    viewer.seek(0.4)
    page.wait_for_timeout(300)
    assert np.abs(scene(viewer, tmp_path) - first).max() > 50
    assert "four-bar" in page.inner_text("body") and "energies [J]" in page.inner_text("body")
    page.get_by_text("Equations").first.click()
    page.locator("math").first.wait_for(timeout=60_000)
    assert "Mass matrix M(q)" in page.inner_text("body")


def test_a_slider_moves_a_loop_that_stays_closed(page, loop):
    page, viewer = page
    before = viewer.state.q.copy()
    box = page.locator("input[type=text]").nth(1)      # of time, then of the crank
    value = float(box.input_value()) + 20
    box.fill(f"{value:.1f}")
    box.press("Enter")
    for _ in range(100):
        if abs(viewer.state.q[0] - np.deg2rad(value)) < 1e-3:
            break
        page.wait_for_timeout(100)
    assert viewer.state.q[0] == pytest.approx(np.deg2rad(value), abs=1e-3) and abs(viewer.state.q - before)[1:].max() > 1e-3
    assert np.abs(da.constraint_residual(loop[0], viewer.state.q)).max() < 1e-9


def test_names_of_files_are_text(page):
    page, viewer = page
    viewer.shown.boxes["frames"].value = True
    page.wait_for_timeout(300)
    assert page.locator("img[src=x]").count() == 0 and "<img src=x" in page.inner_text("body")


@pytest.mark.parametrize("origin", ["https://example.org", "null", "http://localhost:1", "http://[::1"])
def test_pages_of_other_origins_are_refused(page, origin):
    import viser
    from websockets.exceptions import ConnectionClosedError
    from websockets.sync.client import connect

    _, viewer = page
    address = viewer.url.replace("http", "ws")
    options = {"subprotocols": [f"viser-v{viser.__version__}"], "max_size": None}
    with connect(address, origin=origin, **options) as socket, pytest.raises(ConnectionClosedError, match="1008"):
        socket.recv(timeout=10)
    with connect(address, origin=viewer.url, **options) as socket:
        assert socket.recv(timeout=10)


def test_the_tab_has_the_name_of_the_robot(page, loop):
    page, _ = page
    assert page.title().startswith("four-bar <img")

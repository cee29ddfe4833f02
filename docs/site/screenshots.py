"""Draw the pictures of robots, viewer and report again: `python docs/site/screenshots.py`.

Needs Playwright and Chromium.
"""

import io
import shutil
import tempfile
import warnings
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

import dalembert as da

DOCS = Path(__file__).parents[1]
GLASS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SHEET = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; background: #fff; font: 15px/1.3 system-ui, sans-serif; color: #33414e; }
main { display: grid; grid-template-columns: repeat(5, 1fr); gap: 14px 10px; padding: 10px; }
figure { margin: 0; text-align: center; } figure { display: flex; flex-direction: column; justify-content: flex-end; }
svg { width: 100% !important; height: 190px !important; margin-bottom: 4px; }
</style><main>"""
START = [0.0, -1.2, 1.5, -0.3, 0.6, 0.0]


def robots(page: Page) -> None:
    """All embedded robots on one sheet."""
    cells = []
    for name in da.data.names():
        picture = da.load(name).picture(width=300, labels=False)
        cells.append(f"<figure>{picture}<figcaption>{name}</figcaption></figure>")
    page.set_viewport_size({"width": 1100, "height": 900})
    page.set_content(SHEET + "".join(cells))
    keep(page.screenshot(full_page=True), "robots.webp")


def motion() -> da.Run:
    """An arm that moves between two postures under computed torque."""
    arm = da.load("ur5")
    way = da.controllers.Quintic([START, [1.5, -0.6, 1.0, 0.3, 0.5, 0.4]], [0, 2])
    return da.simulate(arm, START, [0] * 6, 2.0, control=da.controllers.ComputedTorque(arm, way))


def viewer(page: Page, run: da.Run) -> None:
    """The page of the viewer beside a run."""
    page.set_viewport_size({"width": 1400, "height": 860})
    with da.view(run.mechanism, run) as shown:
        page.goto(shown.url)
        page.wait_for_timeout(8000)
        page.get_by_role("alert").get_by_role("button").click()  # the note on software rendering
        shown.seek(1.1)
        page.wait_for_timeout(4000)
        keep(page.screenshot(timeout=300_000), "viewer.webp")


def report(page: Page, run: da.Run) -> None:
    """The beginning of a report."""
    page.set_viewport_size({"width": 1100, "height": 1150})
    with tempfile.TemporaryDirectory() as folder:
        page.goto(da.report(run.mechanism, Path(folder, "ur5.html"), run=run).as_uri())
        keep(page.screenshot(), "report.webp")


def keep(shot: bytes, file: str) -> None:
    """Write a screenshot as a small file."""
    Image.open(io.BytesIO(shot)).convert("RGB").save(DOCS / file, quality=82, method=6)


if __name__ == "__main__":
    warnings.simplefilter("ignore", da.DalembertWarning)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=GLASS)
        page = browser.new_page(device_scale_factor=1.5)
        robots(page)
        run = motion()
        report(page, run)
        viewer(page, run)
        browser.close()

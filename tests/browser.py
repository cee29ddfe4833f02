"""Pages in headless Chromium, for the tests of pages, pictures, viewer and documentation.

`browser` (in conftest.py) is one session for all of a process's tests; they skip where Chromium or Playwright is missing.
"""

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
SOFTWARE_GL = ("--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
HERE = ("http://127.0.0.1", "http://localhost", "ws://127.0.0.1", "ws://localhost", "file:", "data:", "blob:", "about:")


def chromium():
    """The path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, CHROMIUMS)), None)


@contextmanager
def browser_session():
    """A headless Chromium, or a skip with the reason."""
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed (extra browser)")
    if (path := chromium()) is None:
        pytest.skip("no Chromium on this machine")
    with api.sync_playwright() as playwright:
        session = playwright.chromium.launch(executable_path=path, args=SOFTWARE_GL)
        yield session
        session.close()


@contextmanager
def open_page(browser, url, dark=False, width=1280, height=800, allowed=()):
    """A page of a URL or a file; fails on errors in its console, and on requests beyond this machine.

    allowed: parts of messages of the console that are no fault.
    """
    address = url if "://" in str(url) else Path(url).resolve().as_uri()
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light")
    page = context.new_page()
    faults, elsewhere = [], []

    def said(message):
        if message.type == "error" and not any(part in message.text for part in allowed):
            faults.append(message.text)

    def asked(request_url):
        if not request_url.startswith(HERE):
            elsewhere.append(request_url)

    page.on("console", said)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: asked(request.url))
    page.on("websocket", lambda socket: asked(socket.url))
    try:
        page.goto(address)
        yield page
        assert not faults, f"errors in the console of {address}: {faults}"
        assert not elsewhere, f"{address} asks other machines: {elsewhere}"
    finally:
        context.close()

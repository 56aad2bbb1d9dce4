"""Debian's Chromium, driven by playwright: headless, with a new profile and no other traffic."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

CHROMIUM = "chromium"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Run a browser with a temporary profile for a `with` block."""
    path = shutil.which(CHROMIUM)
    if path is None:
        raise RuntimeError("chromium is missing: run `make test-browser`, which says what to do")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield opened
        finally:
            opened.close()

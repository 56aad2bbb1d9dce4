"""`make screenshots`: take the screenshots of docs/images from a running arena."""

import tempfile
from pathlib import Path

from tests.programs.browser.chromium import open_browser
from tests.server.page_client import opened_place

IMAGES = Path(__file__).parents[3] / "docs" / "images"
DESKTOP = {"width": 1360, "height": 860}
ACTIONS = 9
READY = ".turn:not([inert]) :is([data-do=confirm], .choices:not(.free) button)"


def main() -> None:
    """Play some actions, then take the picture."""
    with (
        tempfile.TemporaryDirectory() as folder,
        opened_place(Path(folder)) as place,
        open_browser() as chromium,
    ):
        page = chromium.new_page(base_url=place.page, viewport=DESKTOP)
        page.goto("/play")
        page.locator('form[aria-labelledby="play-solo"] button[value="0"]').click()
        page.locator(".game[data-ready] .turn").wait_for()
        for _ in range(ACTIONS):
            before = page.locator(".seat").inner_html()
            button = page.locator(READY).first
            button.click()
            changed = "(before) => document.querySelector('.seat').innerHTML !== before"
            page.wait_for_function(changed, arg=before)
            page.locator(READY).first.wait_for()
        page.evaluate("window.scrollTo(0, 0)")
        page.screenshot(path=IMAGES / "page.png")


if __name__ == "__main__":
    main()

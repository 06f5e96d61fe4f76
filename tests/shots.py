"""Take a picture of every page of the built book: phone and desktop, light and dark."""

from itertools import product

import browser
from pages import page_names
from PIL import Image

SIZES = {"phone": 375, "desktop": 1280}
SHOTS = browser.ROOT / "_build" / "shots"
README_PICTURE = browser.ROOT / "book" / "assets" / "readme.png"


def main():
    """Write _build/shots/<page>-<size>-<scheme>.png and the picture of the README."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    with browser.serving(browser.built_book()) as url, browser.browsing() as chromium:
        for name, size, scheme in product(page_names(), SIZES, ("light", "dark")):
            shot = SHOTS / f"{name.replace('/', '-')}-{size}-{scheme}.png"
            tab = browser.watched_page(chromium, url, width=SIZES[size], scheme=scheme)
            with tab as (page, _troubles):
                browser.visit(page, f"{url}{name}.html")
                page.screenshot(path=shot, full_page=True, animations="disabled")
            print(shot.relative_to(browser.ROOT))
        _take_readme_picture(chromium, url)


def _take_readme_picture(chromium, url):
    """Take the upper part of the first widget, in few colours so that the file stays small."""
    with browser.watched_page(chromium, url) as (page, _troubles):
        browser.visit(page, f"{url}book/rmsnorm.html")
        box = page.locator(".widget-subarea").first.bounding_box()
        clip = box | {"height": min(box["height"], 538)}
        page.screenshot(path=README_PICTURE, full_page=True, clip=clip, animations="disabled")
    Image.open(README_PICTURE).convert("RGB").quantize(64).save(README_PICTURE, optimize=True)
    print(README_PICTURE.relative_to(browser.ROOT))


if __name__ == "__main__":
    main()

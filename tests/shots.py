"""Take a picture of every page of the book and of every widget: phone, desktop, light, dark."""

from itertools import product

import browser
from pages import page_names
from PIL import Image

SIZES = {"phone": 375, "desktop": 1280}
SHOTS = browser.ROOT / "_build" / "shots"
README_PICTURE = browser.ROOT / "book" / "assets" / "readme.png"


def main():
    """Write _build/shots/<page>[-widget-<n>]-<size>-<scheme>.png and the picture of the README."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    with browser.serving(browser.built_book()) as url, browser.browsing() as chromium:
        for name, size, scheme in product(page_names(), SIZES, ("light", "dark")):
            tab = browser.watched_page(chromium, url, width=SIZES[size], scheme=scheme)
            with tab as (page, _troubles):
                browser.visit(page, f"{url}{name}.html")
                _take_pictures(page, name.replace("/", "-"), f"{size}-{scheme}")
        _take_readme_picture(chromium, url)


def _take_pictures(page, name, kind):
    """Take the whole page, then each of its widgets by itself, and print where they are."""
    clips = {name: None}
    for i, picture in enumerate(page.locator(".tb-picture").all(), start=1):
        clips[f"{name}-widget-{i}"] = picture.bounding_box()
    for what, clip in clips.items():
        shot = SHOTS / f"{what}-{kind}.png"
        page.screenshot(path=shot, full_page=True, clip=clip, animations="disabled")
        print(shot.relative_to(browser.ROOT))


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

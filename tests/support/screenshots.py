"""The pictures of docs/reference/console.md, and how pages are compared with them.

    MODELWAY_SCREENSHOTS=1 pytest tests/e2e -k "picture or console_tools or reference or sign_in"

takes them anew. Fonts differ from machine to machine: pictures are compared as a grid of 64 by 40
cells, by those that are not the background.
"""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

from tests.support.driver import Driver
from tests.support.paths import ROOT

FOLDER = ROOT / "docs/reference"
NAMES = (
    "console-home.png",
    "console-playground.png",
    "console-usage.png",
    "console-operations.png",
    "console-tools.png",
    "console-reference.png",
    "console-sign-in.png",
)
TAKE = bool(os.environ.get("MODELWAY_SCREENSHOTS"))
PICTURES = os.environ.get("MODELWAY_PICTURES", "")
"""A folder for pictures of pages in all themes and widths, to be looked at."""
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
"""Whether nothing is wider than the page, in JavaScript."""
DIFFERENT_CELLS = 0.3
"""The share of cells with content that may differ, by fonts."""

_PUBLIC_ADDRESS = """
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node; (node = walker.nextNode());)
  node.data = node.data.replaceAll(location.origin, 'https://models.example.com');
"""
_COMPARE = """
(async (...pictures) => {
  const [one, two] = await Promise.all(pictures.map(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const context = new OffscreenCanvas(64, 40).getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, 64, 40);
    return context.getImageData(0, 0, 64, 40).data;
  }));
  const inked = (data) => {
    const cells = [];
    for (let at = 0; at < data.length; at += 4)
      cells.push((data[at] + data[at + 1] + data[at + 2]) / 3);
    const background = [...cells].sort((a, b) => a - b)[cells.length / 2];
    return cells.map((cell) => Math.abs(cell - background) > 4);
  };
  const [mine, theirs] = [inked(one), inked(two)];
  const either = mine.filter((cell, at) => cell || theirs[at]).length;
  return mine.filter((cell, at) => cell !== theirs[at]).length / either;
})"""


def taken(page: Driver) -> str:
    page.run(_PUBLIC_ADDRESS)
    page.run("document.activeElement?.blur(); document.fonts.ready.then(() => true)")
    return str(page.command("Page.captureScreenshot", format="png")["data"])


def different(page: Driver, one: str, two: str) -> float:
    """The share of cells with content in one picture only."""
    page.open("about:blank")
    return float(page.run(f"{_COMPARE}({json.dumps(one)}, {json.dumps(two)})"))


def recorded(name: str) -> str:
    return base64.b64encode((FOLDER / name).read_bytes()).decode()


def same(page: Driver, name: str, picture: str) -> None:
    if TAKE:
        (FOLDER / name).write_bytes(base64.b64decode(picture))
    share = different(page, picture, recorded(name))
    assert share < DIFFERENT_CELLS, f"{share:.1%} differ: take {name} anew, see this module"


def picture(page: Driver, name: str) -> None:
    """Take a picture of the whole page if PICTURES names a folder."""
    if PICTURES:
        options = {"format": "png", "captureBeyondViewport": True}
        data = page.command("Page.captureScreenshot", **options)["data"]
        Path(PICTURES, f"{name}.png").write_bytes(base64.b64decode(data))

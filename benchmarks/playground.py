"""Frames of the playground while a reply arrives beneath two hundred messages, in Chromium.

    python -m benchmarks.playground

Prints the number of frames, and their median and longest time in milliseconds.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

from tests.support import pages
from tests.support.driver import Driver, driver

_RECORD = (
    "window.frames_ = []; let last = performance.now(); window.going = true;"
    "const tick = (now) => { frames_.push(now - last); last = now;"
    " if (going) requestAnimationFrame(tick) };"
    "requestAnimationFrame(tick)"
)


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        pages.console(Path(folder) / "console") as platform,
        driver(Path(folder) / "browser") as page,
    ):
        frames = _frames(page, platform.url)
    print(f"{len(frames)} frames, median {median(frames):.1f} ms, longest {max(frames):.1f} ms")


def _frames(page: Driver, url: str) -> list[float]:
    """The time of each frame of a reply of sixty words, in milliseconds."""
    pages.enter(page, url)
    pages.choose(page, "gpt-4o", "chat")
    page.run(pages.CONVERSATION)
    page.until("document.querySelectorAll('.turn').length === 200")
    page.run(_RECORD)
    pages.chat(page, " ".join("word" for _ in range(60)))
    frames: list[float] = page.run("window.going = false, frames_")
    return frames


if __name__ == "__main__":
    main()

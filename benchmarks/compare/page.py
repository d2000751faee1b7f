"""Writing what was found between the markers of a page, and nothing else of it."""

from __future__ import annotations

BEGIN = "<!-- written by benchmarks.compare: begin -->"
END = "<!-- written by benchmarks.compare: end -->"


def replaced(page: str, text: str) -> str:
    """The page with the text between its markers. ValueError unless it has both, in order."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page needs the lines {BEGIN} and {END}")
    return f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}"

"""axe-core, a checker of the accessibility of pages; from npm, for tests only."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.support.agents import FOLDER
from tests.support.driver import Driver
from tests.support.thorough import THOROUGH

_PROGRAM = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
_LOOKS = [("light", 390), ("dark", 1440), ("dark", 390), ("light", 1440)]
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_FIND = """
axe.run(%s, %s).then((done) => done.violations.map((one) => {
  const nodes = one.nodes.map((node) => `${node.target} ${node.any.map((any) => any.message)}`);
  return `${one.impact} ${one.id}: ${nodes.slice(0, 5).join(" | ")}`;
}))
"""


def script() -> str:
    """The program's text; "" where it is not installed."""
    return _PROGRAM.read_text("utf-8") if _PROGRAM.exists() else ""


def looks(number: int) -> Sequence[tuple[str, int]]:
    """Themes and widths in which a page is checked: all in a thorough run, otherwise the one with
    this number. The pages share their colours, so that both themes are checked all the same."""
    return _LOOKS if THOROUGH else [_LOOKS[number]]


def violations(page: Driver, axe: str, within: str = "document") -> list[str]:
    """The violations on the page, each with its rule and its elements."""
    page.run(f"{axe}; undefined")
    options: dict[str, Any] = {"runOnly": {"type": "tag", "values": _RULES}}
    results = page.run(_FIND % (within, json.dumps(options)))
    assert isinstance(results, list)
    return [str(violation) for violation in results]

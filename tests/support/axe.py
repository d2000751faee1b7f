"""axe-core, a checker of the accessibility of pages; from npm, for tests only."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

from tests.support.driver import Driver

_PACKAGE = "axe-core@4.14"
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_FIND = """
axe.run(%s, %s).then((done) => done.violations.map((one) => {
  const nodes = one.nodes.map((node) => `${node.target} ${node.any.map((any) => any.message)}`);
  return `${one.impact} ${one.id}: ${nodes.slice(0, 5).join(" | ")}`;
}))
"""


def script(folder: Path) -> str:
    """The program's text; "" where npm is missing or cannot fetch it."""
    npm = shutil.which("npm")
    if npm is None:
        return ""
    process = subprocess.run(
        [npm, "pack", _PACKAGE, "--silent"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    archives = list(folder.glob("axe-core-*.tgz"))
    if process.returncode or not archives:
        return ""
    with tarfile.open(archives[0]) as archive:
        member = archive.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()


def violations(page: Driver, axe: str, within: str = "document") -> list[str]:
    """The violations on the page, each with its rule and its elements."""
    page.run(f"{axe}; undefined")
    options: dict[str, Any] = {"runOnly": {"type": "tag", "values": _RULES}}
    results = page.run(_FIND % (within, json.dumps(options)))
    assert isinstance(results, list)
    return [str(violation) for violation in results]

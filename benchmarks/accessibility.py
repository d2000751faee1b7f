"""The findings of axe-core on every page, at each width and in each theme, in Chromium.

    python -m benchmarks.accessibility [URL of the gateway] [URL of its telemetry]

Prints the table of docs/internals/console.md. Without addresses it starts the shipped gateway.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support import axe, pages
from tests.support.driver import Driver, driver
from tests.support.running import ALL, gateway, mock, pointed_at, shipped

LOOKS = [(theme, width) for width in (390, 1440) for theme in ("light", "dark")]
_NAMES = [
    "\u0646\u0645\u0648\u0630\u062c-7b (beta)",
    "\u05d3\u05d2\u05dd_2",
    *(f"model-{n}" for n in range(38)),
]
"""40 models more, two of them in letters that are written from the right."""
_MORE = """
mcp: {tools: {path: /mcp/tools, operations: [openai.createChatCompletion]}}
teams: {search: {budget: 5 USD/month}}
stores: {records: "sqlite:///records.db"}
callers:
  jwt: [{issuer: "http://127.0.0.1:9", audience: modelway, require: {groups: a}}]
console:
  sign_in:
    issuer: "http://127.0.0.1:9"
    client_id: console
    keys: [0f8a7c6b5d4e3f2a1908f7e6d5c4b3a2]
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, _site(Path(folder)) as (url, telemetry):
        print("| page | " + " | ".join(f"{width} {theme}" for theme, width in LOOKS) + " |")
        print("|---" * (len(LOOKS) + 1) + "|")
        with driver(Path(folder) / "browser") as page:
            for name, (address, prepare) in _PAGES.items():
                counts = []
                for theme, width in LOOKS:
                    page.open("about:blank")
                    base = telemetry if name == "operations" else url
                    page.open(base + address, theme=theme, width=width)
                    prepare(page)
                    findings = axe.violations(page, axe.script())
                    counts.append(str(len(findings)))
                    print(*findings, sep="\n", end="\n" * bool(findings), file=sys.stderr)
                print(f"| {name} | {' | '.join(counts)} |", flush=True)


@contextmanager
def _site(folder: Path) -> Iterator[tuple[str, str]]:
    """The addresses of a gateway with every page, and of its telemetry."""
    if len(sys.argv) == 3:
        yield sys.argv[1], sys.argv[2]
        return
    config = shipped(folder / "project").replace(
        'listen: "{listen}"', 'listen: "{listen}"\n  base_url: "http://{listen}"'
    )
    models = "".join(f'  "{name}": {{to: [{{upstream: openai}}]}}\n' for name in _NAMES)
    config = re.sub(r"^models:.*\n", lambda match: match[0] + models, config, flags=re.MULTILINE)
    with (
        mock(folder) as upstream,
        gateway(folder / "project", config + _MORE, pointed_at(upstream.url)) as front,
    ):
        yield front.url, f"http://127.0.0.1:{front.telemetry}"


def _enter(page: Driver) -> None:
    page.fill("token", ALL)
    page.click("#check")
    page.until("document.querySelector('#token-status .good') !== null")


def _home(page: Driver) -> None:
    page.until("document.querySelector('.status') !== null")
    page.run("document.querySelector('.agent').open = true")


def _playground(page: Driver) -> None:
    _enter(page)
    pages.choose(page, "gpt-4o", "chat")
    pages.chat(
        page, "# Head\n\n- [x](https://a.b/)\n\n```py\n1\n```\n\n|a|b|\n|-|-|\n|1|2|\n\n$x^2$"
    )
    pages.choose(page, "no-such-model", "chat")
    pages.chat(page, "nobody")


def _tools(page: Driver) -> None:
    _enter(page)
    page.until("document.getElementById('tool').options.length > 0")
    page.fill("tool", "createChatCompletion")
    page.until("!document.getElementById('chosen').hidden")


def _usage(page: Driver) -> None:
    _enter(page)
    page.until("document.querySelector('#sums').childElementCount > 0")
    page.run("document.querySelectorAll('details').forEach((node) => (node.open = true))")


def _reference(page: Driver) -> None:
    page.until("document.querySelector('.opblock.is-open .try-out__btn') !== null")
    _enter(page)
    page.click(".try-out__btn")
    page.until("document.querySelector('.execute') !== null")
    page.click(".execute")
    page.until("document.querySelector('.live-responses-table') !== null")


def _operations(page: Driver) -> None:
    page.until("document.querySelector('.tiles') !== null")


_PAGES: dict[str, tuple[str, Callable[[Driver], None]]] = {
    "home": ("/", _home),
    "playground": (pages.PLAYGROUND, _playground),
    "tools": ("/console/tools", _tools),
    "usage": ("/console/usage", _usage),
    "reference": ("/docs#openai.createEmbedding", _reference),
    "sign-in refused": ("/console/sign-in/callback?state=a&code=b", lambda page: None),
    "operations": ("/operations", _operations),
}


if __name__ == "__main__":
    main()

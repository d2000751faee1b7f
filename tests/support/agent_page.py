"""The blocks of docs/how-to/agents.md, as a reader would use them: its config, and for each agent
the files of its home folder and the commands, for SDKs the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine.values.caller import digest
from tests.support.blocks import Block, blocks_of
from tests.support.paths import ROOT
from tests.support.running import ALL, Running, gateway

FILE = ROOT / "docs/how-to/agents.md"
ADDRESS = "http://127.0.0.1:8080"
MODELS = {
    "messages": "claude-sonnet-5",
    "responses": "gpt-5.5",
    "generate_content": "gemini-3.1-pro-preview",
}
"""The page's model of each vendor, by the language that the page's config asks it in."""

_VARIABLES = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY")
_PATHS = {"openai": "/v1", "anthropic": "/v1", "gemini": "/v1beta"}


@dataclass(frozen=True)
class Section:
    """An agent's section: its title and its blocks."""

    title: str
    blocks: tuple[Block, ...]

    def model(self) -> str:
        """The model that the blocks name."""
        text = "".join(block.text for block in self.blocks)
        [model] = [name for name in MODELS.values() if name in text]
        return model

    def at(self, url: str, model: str) -> Section:
        """The section for a gateway elsewhere, and another model."""
        mine = self.model()
        texts = [block.text.replace(ADDRESS, url).replace(mine, model) for block in self.blocks]
        return Section(
            self.title,
            tuple(
                Block(block.page, block.line, block.language, block.name, text)
                for block, text in zip(self.blocks, texts, strict=True)
            ),
        )

    def write(self, home: Path) -> None:
        """Write the files of a home folder."""
        for block in self.blocks:
            if block.name:
                file = home / block.name.removeprefix("~/")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(block.text)

    def script(self) -> str:
        """The commands of the shell; the last one starts the agent."""
        return "".join(block.text for block in self.blocks if block.language == "sh")

    def program(self) -> str:
        """The only block that is a program."""
        [program] = [block.text for block in self.blocks if block.language in ("python", "js")]
        return program


def sections() -> dict[str, Section]:
    """The sections with blocks, by title."""
    result = {}
    for text in re.split(r"^## ", FILE.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        title, _, rest = text.partition("\n")
        if blocks := blocks_of(FILE.name, rest):
            result[title] = Section(title, tuple(blocks))
    return result


def config(upstream: str) -> str:
    """The page's config with its upstreams at another address, and with the tests' token."""
    [text] = [b.text for b in blocks_of(FILE.name, FILE.read_text()) if b.name == "gateway.yaml"]
    for name, path in _PATHS.items():
        text, count = re.subn(
            rf"provider: {name},", f"provider: {name}, url: '{upstream}{path}', proxy: '',", text
        )
        assert count == 1, f"{count} upstreams of {name}"
    text = re.sub(r"sha256: \w+", f"sha256: {digest(ALL)}", text)
    text = text.replace("document: openapi/", f"document: {ROOT}/openapi/")
    return text.replace("version: 1", 'version: 1\nserver: {listen: "{listen}", workers: 1}')


@contextmanager
def serving(folder: Path, upstream: str, more: str = "", top: str = "") -> Iterator[Running]:
    """The gateway of the page; `more` are lines for its models, `top` sections of their own."""
    text = config(upstream).replace("\nroutes:", f"\n{more}routes:") + top
    with gateway(folder, text, dict.fromkeys(_VARIABLES, "upstream-key")) as running:
        yield running

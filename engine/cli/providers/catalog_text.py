"""A catalog as the text of its file."""

from __future__ import annotations

from collections.abc import Mapping

import yaml

from engine.config import providers
from engine.config.catalog_updates import KEYS
from engine.values.trees import Section

_HEAD = "# Models and prices of providers, for `providers.catalog` of gateway.yaml.\n"
_WIDTH = float("inf")
"""A model is on one line, however long."""
_MAX_KEY = 1_000
"""The longest text that may be a key without a mark: YAML has 1,024 characters."""


def catalog_entry(name: str) -> Section:
    """What a catalog has of a shipped provider."""
    value = providers.document(name).value
    return {key: value[key] for key in KEYS if key in value}


def catalog_text(entries: Mapping[str, Section]) -> str:
    """The file of a catalog: a line for each model."""
    lines = [_HEAD]
    for name, entry in entries.items():
        lines.append(f"{_inline(name)}:\n")
        for key, value in entry.items():
            if key == "models":
                lines.append("  models:\n")
                lines += [f"    {_key(m)}: {_inline(v)}\n" for m, v in value.items()]
            else:
                lines.append(f"  {key}: {_inline(value)}\n")
    return "".join(lines)


class _Dumper(yaml.SafeDumper):
    """Writes no text over several lines."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        style = None if text.isprintable() else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _Dumper.represent_text)


def _key(name: str) -> str:
    text = _inline(name)
    return text if len(text) < _MAX_KEY else f"? {text}\n    "


def _inline(value: object) -> str:
    """A value on one line."""
    text: str = yaml.dump(
        value, Dumper=_Dumper, default_flow_style=True, sort_keys=False, width=_WIDTH
    )
    return text.removesuffix("...\n").strip()

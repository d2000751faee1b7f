"""YAML as PyYAML reads and writes it, with its parser in C if it has one: ten times as fast."""

from __future__ import annotations

from typing import IO, Any

import yaml

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def load(text: str | bytes | IO[str] | IO[bytes]) -> Any:
    """The value of a document, as of `yaml.safe_load`."""
    return yaml.load(text, _Loader)


def dump(value: object) -> str:
    """The text of a value, as of `yaml.safe_dump`, with keys in their order."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False)
    return text

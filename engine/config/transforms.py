"""`transform` of gateway.yaml as written; `engine.transforms` compiles it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.source.problem import Path


@dataclass(frozen=True, slots=True)
class TransformConfig:
    """A transform: its options, which match the schema, and its place."""

    options: Mapping[str, Any] = field(hash=False)
    at: Path = field(compare=False)


def read_transform(section: Mapping[str, Any], at: Path) -> tuple[TransformConfig, ...]:
    """The transform of an entry at `at`: one, or none."""
    if "transform" not in section:
        return ()
    return (TransformConfig(section["transform"], (*at, "transform")),)

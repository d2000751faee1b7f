"""Schemas of which each refers to the next one."""

from __future__ import annotations

from typing import Any

from tests.support.documents import HERE

URI = HERE.as_uri()


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/schemas/{name}"}


def levels(number: int, keyword: str = "anyOf") -> dict[str, Any]:
    """Schemas of which each refers to the next one twice."""
    return {f"S{n}": {keyword: [ref(f"S{n + 1}")] * 2} for n in range(number)} | {
        f"S{number}": {"type": "string"}
    }

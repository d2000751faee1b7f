"""Signatures of one vendor inside the requests and answers of another.

A caller stores the signatures in its language and sends them back with the next turn. A signature
of another language is sealed with the name of that language, so that it is sent only to the vendor
that made it.

A relayed request may contain sealed signatures of earlier turns that another vendor answered. The
caller's vendor would refuse them, so each language defines how to remove them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.translations.neutral.content import Reasoning, Signature
from engine.values.json_edit import JsonPath

SEAL = "modelway:"
"""The prefix of sealed signatures."""

NO_SIGNATURE = Signature("unsigned", "")
"""Sealed in place of a signature that an answer lacks and the caller's vendor would want back: the
seal is removed when such a request is relayed."""

Changes = Mapping[JsonPath, bytes | None]
"""New JSON texts of values by their paths; None removes a value."""


def is_mark(thoughts: Reasoning) -> bool:
    """Whether thoughts only mark that an answer had none."""
    return not thoughts.text and thoughts.signature == NO_SIGNATURE


def is_of(thoughts: Reasoning, language: str) -> bool:
    """Whether thoughts are signed by a vendor of a language."""
    return thoughts.signature is not None and thoughts.signature.language == language


def seal(signature: Signature, language: str) -> str:
    """The text for a caller of `language`: a signature of that language is not sealed."""
    if signature.language == language:
        return signature.value
    return f"{SEAL}{signature.language}:{signature.value}"


def unseal(text: str, language: str) -> Signature:
    """The signature in a text that a caller of `language` has sent back."""
    if text.startswith(SEAL):
        origin, _, value = text.removeprefix(SEAL).partition(":")
        return Signature(origin, value)
    return Signature(language, text)


def is_sealed(text: Any) -> bool:
    """Whether a JSON value is a sealed signature."""
    return isinstance(text, str) and text.startswith(SEAL)


def objects(value: Any, name: str) -> list[tuple[int, dict[str, Any]]]:
    """The objects in the list that is the member `name` of a JSON value, with their indexes; none
    of a value of another form."""
    items = value.get(name) if isinstance(value, dict) else None
    if not isinstance(items, list):
        return []
    return [(index, item) for index, item in enumerate(items) if isinstance(item, dict)]

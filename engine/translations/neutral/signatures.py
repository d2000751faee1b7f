"""Signatures of one vendor inside the requests and answers of another.

A caller keeps what its own language calls a signature and sends it back with the next turn. A
signature of another language is sealed with the name of that language, so that it returns to the
vendor that made it and is never shown to another.
"""

from __future__ import annotations

from engine.translations.neutral.content import Signature

_SEAL = "modelway:"


def seal(signature: Signature, language: str) -> str:
    """The text that a caller of `language` keeps: its own signature as it is."""
    if signature.language == language:
        return signature.value
    return f"{_SEAL}{signature.language}:{signature.value}"


def unseal(text: str, language: str) -> Signature:
    """The signature in a text that a caller of `language` has sent back."""
    if text.startswith(_SEAL):
        origin, _, value = text.removeprefix(_SEAL).partition(":")
        return Signature(origin, value)
    return Signature(language, text)

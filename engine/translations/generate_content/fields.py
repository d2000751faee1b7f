"""Members by their names: the vendor accepts `systemInstruction` and `system_instruction`."""

from __future__ import annotations

import base64
import binascii
import re

from engine.translations.neutral.content import Signature
from engine.translations.neutral.members import Members
from engine.translations.neutral.signatures import seal, unseal

NAME = "generate_content"

_CAPITAL = re.compile(r"[A-Z]")

THOUGHT = "thought:"
"""Begins a signature that is the thought's own; any other belongs to the block after it."""

UNSIGNED = base64.b64encode(b"skip_thought_signature_validator").decode()
"""Stands for the signature of a call that this vendor has not made."""


def field(members: Members, name: str) -> str:
    """The name under which a member is there: as the document writes it, or in snake case."""
    if name in members:
        return name
    snake = _CAPITAL.sub(lambda match: f"_{match[0].lower()}", name)
    return snake if snake in members else name


def write_signature(signature: Signature) -> str:
    """`thoughtSignature`, which SDKs read as base64."""
    if signature.language == NAME:
        return signature.value.removeprefix(THOUGHT)
    return base64.b64encode(seal(signature, NAME).encode()).decode()


def read_signature(text: str) -> Signature:
    """The signature in `thoughtSignature`."""
    try:
        sealed = base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        sealed = ""
    signature = unseal(sealed, NAME)
    return signature if signature.language != NAME else Signature(NAME, text)

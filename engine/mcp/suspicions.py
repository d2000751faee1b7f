"""Suspicious words in the descriptions of others: what tells a model to do something, instead of
what a tool does. A document of a third party can have them by intent or by accident."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from engine.mcp.descriptions import INVISIBLE

INSTRUCTION, ADDRESS, HIDDEN = "instruction", "URL", "invisible character"
_MAX_QUOTE = 60

_INSTRUCTIONS = re.compile(
    r"""(?ix)
    \b(?:ignore|disregard|forget|override|bypass)\b [^.]{0,30}
        \b(?:previous|prior|above|earlier|preceding|other|all|any|system|user)\b [^.]{0,20}
        \b(?:instructions?|prompts?|rules?|messages?|guidelines?|polic(?:y|ies))\b
    | \b(?:do\ not|don't|never|without)\s+ (?:tell|telling|inform|informing|mention|mentioning
        |notify|notifying|ask|asking) \b [^.]{0,20} \buser\b
    | \b(?:your|the)\s+system\s+prompt\b
    | <\s*/?\s*(?:important|system|instructions?|secret|assistant|admin)\b [^<>]{0,40} >
    | \b(?:before|after|instead\ of|when)\s+ (?:using|calling|invoking)\s+ (?:this|any|another
        |other|all)\s+ (?:other\s+)? tools?\b
    | \balways\s+ (?:call|use|invoke|run)\s+ this\s+ tool\b
    | \byou\s+ are\s+ now\b
    | (?:~|/home/[^\s/]{1,40}|/root)/\.(?:ssh|aws|cursor|config|env|netrc)\b | \bid_rsa\b
    | /etc/(?:passwd|shadow)\b
    """
)
_ADDRESS = re.compile(r"(?i)\b(?:https?|ftp|wss?|file|data|javascript)://?[^\s<>\"')\]]{2,200}")


def suspicions(text: str) -> Iterator[tuple[str, str]]:
    """The suspicious parts of a description, each with its kind: INSTRUCTION, ADDRESS or HIDDEN."""
    if match := _INSTRUCTIONS.search(text):
        yield INSTRUCTION, " ".join(match[0].split())[:_MAX_QUOTE]
    if match := _ADDRESS.search(text):
        yield ADDRESS, match[0][:_MAX_QUOTE]
    if (not text.isascii() or not text.isprintable()) and (match := INVISIBLE.search(text)):
        yield HIDDEN, f"U+{ord(match[0]):04X}"


def descriptions(value: Any) -> Iterator[str]:
    """The descriptions, titles and other texts of a document's value or of a listed tool that a
    model reads."""
    queue = [value]
    for each in queue:
        if isinstance(each, Mapping):
            for key, child in each.items():
                if key in ("description", "title", "summary") and isinstance(child, str):
                    yield child
                else:
                    queue.append(child)
        elif isinstance(each, list):
            queue += each
        elif isinstance(each, str):
            yield each

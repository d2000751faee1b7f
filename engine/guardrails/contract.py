"""What a guard is asked and answers, as `openapi/guard.yaml` describes it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import orjson
import yaml

from engine.config.schema_check import Validator
from engine.exchange.exchange import Exchange
from engine.process.loop_turn import paced
from engine.source import files

DOCUMENT = files.DOCUMENTS / "guard.yaml"
PASS, REDACT, BLOCK = "pass", "redact", "block"


class TextPart(NamedTuple):
    """A text at a JSON Pointer, or a part of it that begins at a character."""

    pointer: str
    text: str
    offset: int = 0


class Window(NamedTuple):
    """A part of a stream: its number, and whether it is the last one."""

    number: int
    last: bool


class Verdict(NamedTuple):
    """The verdict on one question: PASS, REDACT or BLOCK, words for the log and for the caller, and
    the texts of REDACT."""

    action: str
    reason: str = ""
    message: str = ""
    texts: Sequence[TextPart] = ()


class InvalidVerdict(Exception):
    """An answer that is not as the document says; `str` is a sentence about it."""


def question(
    exchange: Exchange, stage: str, parts: Sequence[TextPart], window: Window | None
) -> bytes:
    """The JSON of a question about texts of an exchange."""
    caller = exchange.caller
    document: dict[str, Any] = {
        "id": exchange.request_id,
        "stage": stage,
        "operation": exchange.operation,
        "model": exchange.model.name,
        "caller": {
            "name": "" if caller is None else caller.name,
            "team": "" if caller is None else caller.team,
        },
        "texts": [_text(part) for part in paced(parts)],
    }
    if window is not None:
        document["window"] = window._asdict()
    return orjson.dumps(document)


def read_verdict(body: bytes, parts: Sequence[TextPart]) -> Verdict:
    """The verdict on these texts. Raises InvalidVerdict."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InvalidVerdict("its answer is not JSON") from error
    if not verdict_validator().accepts(value):
        raise InvalidVerdict("its answer is not as openapi/guard.yaml says")
    changes = paced(value.get("texts", ()))
    texts = [TextPart(t["pointer"], t["text"], t.get("offset", 0)) for t in changes]
    places = {(part.pointer, part.offset) for part in paced(parts)}
    if any((text.pointer, text.offset) not in places for text in paced(texts)):
        raise InvalidVerdict("its answer has a pointer that was not in the question")
    return Verdict(value["action"], value.get("reason", ""), value.get("message", ""), texts)


def _text(part: TextPart) -> dict[str, object]:
    offset = {"offset": part.offset} if part.offset else {}
    text = part.text.encode("utf-8", "replace").decode()  # without lone surrogates
    return {"pointer": part.pointer, "text": text, **offset}


@cache
def verdict_validator() -> Validator:
    """The validator of verdicts, made when a guard is made."""
    document = yaml.load(DOCUMENT.read_text("utf-8"), yaml.CSafeLoader)
    schemas = {"components": document["components"]}
    return Validator({"$ref": "#/components/schemas/Verdict", **schemas})

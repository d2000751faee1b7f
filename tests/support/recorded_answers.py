"""Recorded answers of real vendors, in corpora that can stand in for each other.

`RECORDINGS` are those of `recordings` in the folder MODELWAY_SHARED, by default `shared` beside the
checkout.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest

from engine import dialects
from engine.relay.amazon_events import AmazonEvents
from engine.relay.sse import Cleaner
from engine.translations import target_language
from tests.support.captures import SHARED
from tests.support.sayings import Json, Saying, saying_of
from tests.support.translations import event_data

FOLDER = SHARED / "recordings"
needs_answers = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="no recordings beside the checkout or in MODELWAY_SHARED"
)


@dataclass(frozen=True)
class RecordedAnswer:
    """An answer with a status of success. `body` is what the vendor sent, Amazon's frames as
    server-sent events; `documents` are its JSON texts: one, or a stream's."""

    id: str
    language: str
    is_stream: bool
    body: bytes
    documents: list[bytes]


@dataclass(frozen=True)
class Corpus:
    """Answers by the language of chat that they are in. `missing` says why they are not here, ""
    if they are."""

    name: str
    answers: Callable[[str], list[RecordedAnswer]]
    missing: Callable[[], str]


def recorded_answer(name: str, language: str, body: bytes, *, is_stream: bool) -> RecordedAnswer:
    """An answer of a language by its bytes."""
    documents = [body]
    if is_stream:
        cleaner = Cleaner(dialects.get(target_language(language).dialect).stream)
        documents = event_data(cleaner.feed(body) + cleaner.finish())
    return RecordedAnswer(name, language, is_stream, body, documents)


def saying(answer: RecordedAnswer) -> Saying:
    """What a recorded answer says."""
    documents = [json.loads(each) for each in answer.documents if each != b"[DONE]"]
    return saying_of(answer.language, documents)


@cache
def recorded_answers(language: str) -> list[RecordedAnswer]:
    """Those of the vendors of a language."""
    rows = gzip.decompress((FOLDER / f"{language}.jsonl.gz").read_bytes()).splitlines()
    return [answer for row in rows if (answer := _answer(language, json.loads(row)))]


def _answer(language: str, row: Json) -> RecordedAnswer | None:
    if row["status"] >= 300 or not row["response"]:
        return None
    kind = row["headers"].get("content-type", "")
    body = _bytes(row["response"])
    if "amazon" in kind:
        body = AmazonEvents().feed(body)
    return recorded_answer(row["id"], language, body, is_stream="stream" in kind)


def _bytes(content: Json) -> bytes:
    text = content.get("text")
    return base64.b64decode(content["base64"]) if text is None else text.encode()


RECORDINGS = Corpus(
    "recordings",
    recorded_answers,
    lambda: "" if FOLDER.is_dir() else f"no folder {FOLDER}",
)

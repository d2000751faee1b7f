"""A language of embeddings, as each module of `languages/` defines some in `LANGUAGES`; requests
and answers in the neutral form; and vectors as JSON: a list of numbers, or a base64 string of
little-endian float32."""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Callable
from typing import Annotated

import msgspec
from msgspec import Raw, Struct

from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.language import BaseLanguage, RequestLine, TargetRequest
from engine.translations.neutral.losses import Losses, TooLarge, encode_request, most_bytes
from engine.values.trees import Json


class EmbeddingInput(Struct, kw_only=True):
    """One text that is to become a vector. `task_type` is what the vector is for, `title` that of
    the document which the text is of, "" for nothing said; `dimensions` is the length wanted."""

    text: str
    place: str
    task_type: str = ""
    title: str = ""
    dimensions: int | None = None


class EmbeddingRequest(Struct, kw_only=True):
    """A request for vectors. `base64`: the caller wants them packed (float32, little-endian).
    `size` is that of the caller's request in bytes, which bounds what is written for the target;
    `unread` are the places of everything that has no name here. There are no streams."""

    model: str
    inputs: list[EmbeddingInput]
    base64: bool = False
    user: str = ""
    size: int = 0
    unread: list[str] = []
    stream: bool = False
    as_list: bool = False


class Embeddings(Struct, kw_only=True):
    """An answer: the vectors in the order of the inputs, as JSON (numbers, or a base64 string).
    `input_tokens`, which no language reads, is None where the vendor does not say."""

    vectors: list[Raw]
    input_tokens: int | None = None


_INDEX = re.compile(r"\[\d+\]")


def encode_embeddings(document: Json, request: EmbeddingRequest) -> bytes:
    """The JSON of a request for a target. Raises TooLarge."""
    return encode_request(document, request.size, lambda _: _place_of_inputs(request))


def check_repeated(size: int, request: EmbeddingRequest) -> None:
    """Raise TooLarge if `size` bytes beside each text are more than may be written."""
    if size * len(request.inputs) > (most := most_bytes(request.size)):
        raise TooLarge(_place_of_inputs(request), most)


def _place_of_inputs(request: EmbeddingRequest) -> str:
    return _INDEX.sub("", request.inputs[0].place).rstrip(".") or "content"


_SOME = msgspec.Meta(min_length=1)
_NUMBERS = msgspec.json.Decoder(Annotated[list[float], _SOME])
_TEXT = msgspec.json.Decoder(Annotated[str, _SOME])


def as_numbers(vector: Raw, place: str) -> Raw:
    """A vector as numbers; one that is a list already keeps its text. Raises WrongType."""
    try:
        if not _is_text(vector):
            _NUMBERS.decode(vector)
            return vector
        packed = base64.b64decode(_TEXT.decode(vector), validate=True)
        return Raw(msgspec.json.encode(struct.unpack(f"<{len(packed) // 4}f", packed)))
    except (msgspec.DecodeError, binascii.Error, struct.error) as error:
        raise WrongType(place, "a vector") from error


def as_base64(vector: Raw, place: str) -> Raw:
    """A vector as a base64 string, which may be one already. Raises WrongType."""
    try:
        if _is_text(vector):
            base64.b64decode(_TEXT.decode(vector), validate=True)
            return vector
        numbers = _NUMBERS.decode(vector)
        packed = base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers))
    except (msgspec.DecodeError, binascii.Error, OverflowError) as error:
        raise WrongType(place, "a vector") from error
    return Raw(b'"%b"' % packed)


def _is_text(vector: Raw) -> bool:
    return bytes(memoryview(vector)[:1]) == b'"'


class EmbeddingLanguage(BaseLanguage, frozen=True, kw_only=True, eq=False):
    """One language of embeddings, with functions like those of a `Language` of chat."""

    read_request: Callable[[bytes, RequestLine], EmbeddingRequest]
    write_request: Callable[[EmbeddingRequest, str, Losses], TargetRequest]
    read_answer: Callable[[bytes], Embeddings]
    write_answer: Callable[[Embeddings, EmbeddingRequest], bytes]

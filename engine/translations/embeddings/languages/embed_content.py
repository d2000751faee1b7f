"""Gemini's embedContent: one text."""

from __future__ import annotations

import msgspec

from engine.translations.embeddings.gemini_contents import (
    lose_user,
    path_of,
    read_input,
    read_vector,
    write_input,
    write_usage,
)
from engine.translations.embeddings.language import SINGLE, EmbeddingLanguage
from engine.translations.embeddings.neutral import (
    EmbeddingRequest,
    Embeddings,
    as_numbers,
    encode_embeddings,
)
from engine.translations.generate_content.answer_fields import ERRORS, read_error
from engine.translations.generate_content.fields import Fields
from engine.translations.language import RequestLine, TargetRequest
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.members import WrongType


def read_request(body: bytes, line: RequestLine) -> EmbeddingRequest:
    """A request. Raises WrongType."""
    unread: list[str] = []
    inputs = [read_input(Fields(body, "", unread))]
    return EmbeddingRequest(model=line.model, inputs=inputs, unread=unread)


def write_request(request: EmbeddingRequest, model: str, losses: Losses) -> TargetRequest:
    """A request for a target that calls the model so. Raises WrongType for several texts."""
    if len(request.inputs) != 1:
        raise WrongType(request.inputs[1].place.rstrip("."), "one text: the model takes no list")
    lose_user(request, losses)
    body = encode_embeddings(write_input(request.inputs[0]), request)
    return TargetRequest(body, path_of(model, "embedContent"))


def read_answer(body: bytes) -> Embeddings:
    """An answer. Raises WrongType or UpstreamError."""
    fields = Fields(body)
    if "error" in fields or "embedding" not in fields:
        ERRORS.refuse(body)
    vector = read_vector(fields.members("embedding"))
    return Embeddings(vectors=[vector])


def write_answer(answer: Embeddings, request: EmbeddingRequest) -> bytes:
    """An answer."""
    values = as_numbers(answer.vectors[0], "data[0].embedding")
    return msgspec.json.encode(
        {"embedding": {"values": values}, **write_usage(answer.input_tokens)}
    )


LANGUAGE = EmbeddingLanguage(
    name="embed_content",
    dialect="gemini",
    path_suffix=":embedContent",
    read_request=read_request,
    write_request=write_request,
    read_answer=read_answer,
    write_answer=write_answer,
    read_error=read_error,
    features=SINGLE,
)

"""Gemini's batchEmbedContents: several texts, each a request of its own."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from engine.translations.embeddings.language import BATCH, EmbeddingLanguage
from engine.translations.embeddings.languages.embed_content import (
    lose_user,
    read_input,
    read_vector,
    write_input,
    write_usage,
)
from engine.translations.embeddings.neutral import (
    EmbeddingRequest,
    Embeddings,
    as_numbers,
    check_repeated,
    encode_embeddings,
)
from engine.translations.generate_content.answer_fields import ERRORS, read_error
from engine.translations.generate_content.fields import Fields
from engine.translations.generate_content.models import full_name, path_of
from engine.translations.language import RequestLine, TargetRequest
from engine.translations.neutral.losses import Losses


def read_request(body: bytes, line: RequestLine) -> EmbeddingRequest:
    """A request. Raises WrongType."""
    unread: list[str] = []
    fields = Fields(body, "", unread)
    inputs = [read_input(each) for each in fields.objects("requests")]
    fields.text("model")  # the path decides
    fields.rest()
    if not inputs:
        raise fields.wrong("requests", "a list that is not empty")
    return EmbeddingRequest(model=line.model, inputs=inputs, unread=unread)


def write_request(request: EmbeddingRequest, model: str, losses: Losses) -> TargetRequest:
    """A request for a target that calls the model so."""
    lose_user(request, losses)
    name = full_name(model)
    check_repeated(len(name), request)
    encode = msgspec.json.encode
    requests = [Raw(encode({"model": name, **write_input(each)})) for each in request.inputs]
    body = encode_embeddings({"requests": requests}, request)
    return TargetRequest(body, path_of(model, "batchEmbedContents"))


def read_answer(body: bytes) -> Embeddings:
    """An answer. Raises WrongType or UpstreamError."""
    fields = Fields(body)
    if "error" in fields or "embeddings" not in fields:
        ERRORS.refuse(body)
    vectors = [read_vector(each) for each in fields.objects("embeddings")]
    return Embeddings(vectors=vectors)


def write_answer(answer: Embeddings, request: EmbeddingRequest) -> bytes:
    """An answer."""
    embeddings = [
        {"values": as_numbers(vector, f"data[{index}].embedding")}
        for index, vector in enumerate(answer.vectors)
    ]
    return msgspec.json.encode({"embeddings": embeddings, **write_usage(answer.input_tokens)})


LANGUAGE = EmbeddingLanguage(
    name="batch_embed_contents",
    dialect="gemini",
    path_suffix=":batchEmbedContents",
    read_request=read_request,
    write_request=write_request,
    read_answer=read_answer,
    write_answer=write_answer,
    read_error=read_error,
    features=BATCH,
)

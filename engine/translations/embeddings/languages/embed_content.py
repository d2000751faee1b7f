"""Gemini's embedContent: one text; and what batchEmbedContents has in common with it."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from engine.translations.embeddings.language import SINGLE, EmbeddingLanguage
from engine.translations.embeddings.neutral import (
    EmbeddingInput,
    EmbeddingRequest,
    Embeddings,
    as_numbers,
    encode_embeddings,
)
from engine.translations.generate_content.answer_fields import ERRORS, read_error
from engine.translations.generate_content.fields import Fields
from engine.translations.generate_content.models import path_of
from engine.translations.language import RequestLine, TargetRequest
from engine.translations.neutral.content import Json
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.members import Members, WrongType

_TEXT = "a text: the model turns nothing else into a vector"


def read_input(request: Members) -> EmbeddingInput:
    """One EmbedContentRequest. Raises WrongType."""
    place = f"{request.place}." if request.place else ""
    request.text("model")  # the path decides
    content = request.members("content")
    if content is None:
        raise request.wrong("content", "an object")
    content.text("role")
    texts = [_read_text(part) for part in content.objects("parts")]
    if len(texts) != 1:
        raise content.wrong("parts", "one text")
    content.rest()
    task_type = request.text("taskType") or ""
    read = EmbeddingInput(
        text=texts[0],
        place=place,
        task_type="" if task_type == "TASK_TYPE_UNSPECIFIED" else task_type,
        title=request.text("title") or "",
        dimensions=request.integer("outputDimensionality"),
    )
    request.rest()
    return read


def _read_text(part: Members) -> str:
    text = part.text("text")
    if text is None:
        raise part.wrong("text", _TEXT)
    part.rest()
    return text


def write_input(each: EmbeddingInput) -> Json:
    """One EmbedContentRequest, without the model."""
    document: Json = {"content": {"parts": [{"text": each.text}]}}
    if each.task_type:
        document["taskType"] = each.task_type
    if each.title:
        document["title"] = each.title
    if each.dimensions is not None:
        document["outputDimensionality"] = each.dimensions
    return document


def lose_user(request: EmbeddingRequest, losses: Losses) -> None:
    """Note that nobody is told for whom a vector is."""
    if request.user:
        losses.add("user", "the vendor is not told for whom a vector is", hint=True)


def read_vector(embedding: Members | None) -> Raw:
    """The values of a ContentEmbedding. Raises WrongType."""
    values = None if embedding is None else embedding.raw("values")
    if values is None:
        place = "embedding" if embedding is None else embedding.place_of("values")
        raise Members(b"{}").wrong(place, "a vector")
    return values


def write_usage(tokens: int | None) -> Json:
    """The member that reports usage, nothing where it is not known."""
    if tokens is None:
        return {}
    return {"usageMetadata": {"promptTokenCount": tokens, "totalTokenCount": tokens}}


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

"""Gemini's embedContent (one text) and batchEmbedContents (several, each a request of its own)."""

from __future__ import annotations

from msgspec import Raw

from engine.translations.embeddings import language
from engine.translations.generate_content.answer_fields import ERRORS, read_error
from engine.translations.generate_content.models import full_name, path_of
from engine.translations.generate_content.part_fields import Fields
from engine.translations.neutral.json_members import Members, WrongType, encode
from engine.translations.neutral.language import Feature, Features, RequestLine, TargetRequest
from engine.translations.neutral.losses import Losses
from engine.values.trees import Json

_PIXEL = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}


def _content(*parts: Json) -> Json:
    return {"content": {"parts": [*parts]}}


_FOX, _DOG = {"text": "fox"}, {"text": "dog"}
_INPUT = _content(_FOX)
_OPTIONS = (
    ("options", "taskType", {"taskType": "CLUSTERING"}),
    ("options", "title", {"title": "Animals"}),
    ("options", "outputDimensionality", {"outputDimensionality": 256}),
    ("input", "contents of several parts", _content(_FOX, _DOG)),
    ("input", "images", _content(_PIXEL)),
)

_SINGLE = Features(_INPUT, [Feature(*feature) for feature in _OPTIONS])
_BATCH = Features(
    {"requests": [_INPUT]},
    [
        Feature("input", "several texts", {"requests": [_INPUT, _content(_DOG)]}),
        *(
            Feature(group, name, {"requests": [{**_INPUT, **members}]})
            for group, name, members in _OPTIONS
        ),
    ],
)

_TEXT = "a text: the model turns nothing else into a vector"


def read_input(request: Members) -> language.EmbeddingInput:
    """One EmbedContentRequest. Raises WrongType."""
    place = f"{request.place}." if request.place else ""
    request.text("model")  # the path decides
    if (content := request.members("content")) is None:
        raise request.wrong("content", "an object")
    content.text("role")
    texts = [_read_text(part) for part in content.objects("parts")]
    if len(texts) != 1:
        raise content.wrong("parts", "one text")
    content.rest()
    task_type = request.text("taskType") or ""
    read = language.EmbeddingInput(
        text=texts[0],
        place=place,
        task_type="" if task_type == "TASK_TYPE_UNSPECIFIED" else task_type,
        title=request.text("title") or "",
        dimensions=request.integer("outputDimensionality"),
    )
    request.rest()
    return read


def _read_text(part: Members) -> str:
    if (text := part.text("text")) is None:
        raise part.wrong("text", _TEXT)
    part.rest()
    return text


def write_input(each: language.EmbeddingInput) -> Json:
    """One EmbedContentRequest, without the model."""
    options: Json = {"taskType": each.task_type, "title": each.title}
    if each.dimensions is not None:
        options["outputDimensionality"] = each.dimensions
    members = {name: value for name, value in options.items() if value != ""}
    return {"content": {"parts": [{"text": each.text}]}, **members}


def lose_user(request: language.EmbeddingRequest, losses: Losses) -> None:
    if request.user:
        losses.add("user", "the vendor takes no user id for embeddings", hint=True)


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


def _read_single(body: bytes, line: RequestLine) -> language.EmbeddingRequest:
    unread: list[str] = []
    inputs = [read_input(Fields(body, "", unread))]
    return language.EmbeddingRequest(model=line.model, inputs=inputs, unread=unread)


def _write_single(request: language.EmbeddingRequest, model: str, losses: Losses) -> TargetRequest:
    """A request for a target that calls the model so. Raises WrongType for several texts."""
    if len(request.inputs) != 1:
        raise WrongType(request.inputs[1].place.rstrip("."), "one text: the model takes no list")
    lose_user(request, losses)
    body = language.encode_embeddings(write_input(request.inputs[0]), request)
    return TargetRequest(body, path_of(model, "embedContent"))


def _read_single_answer(body: bytes) -> language.Embeddings:
    fields = Fields(body)
    if "error" in fields or "embedding" not in fields:
        ERRORS.refuse(body)
    return language.Embeddings(vectors=[read_vector(fields.members("embedding"))])


def _write_single_answer(answer: language.Embeddings, request: language.EmbeddingRequest) -> bytes:
    values = language.as_numbers(answer.vectors[0], "data[0].embedding")
    return encode({"embedding": {"values": values}, **write_usage(answer.input_tokens)})


def _read_batch(body: bytes, line: RequestLine) -> language.EmbeddingRequest:
    unread: list[str] = []
    fields = Fields(body, "", unread)
    inputs = [read_input(each) for each in fields.objects("requests")]
    fields.text("model")  # the path decides
    fields.rest()
    if not inputs:
        raise fields.wrong("requests", "a list that is not empty")
    return language.EmbeddingRequest(model=line.model, inputs=inputs, unread=unread)


def _write_batch(request: language.EmbeddingRequest, model: str, losses: Losses) -> TargetRequest:
    lose_user(request, losses)
    name = full_name(model)
    language.check_repeated(len(name), request)
    requests = [Raw(encode({"model": name, **write_input(each)})) for each in request.inputs]
    body = language.encode_embeddings({"requests": requests}, request)
    return TargetRequest(body, path_of(model, "batchEmbedContents"))


def _read_batch_answer(body: bytes) -> language.Embeddings:
    fields = Fields(body)
    if "error" in fields or "embeddings" not in fields:
        ERRORS.refuse(body)
    return language.Embeddings(vectors=[*map(read_vector, fields.objects("embeddings"))])


def _write_batch_answer(answer: language.Embeddings, request: language.EmbeddingRequest) -> bytes:
    embeddings = [
        {"values": language.as_numbers(vector, f"data[{index}].embedding")}
        for index, vector in enumerate(answer.vectors)
    ]
    return encode({"embeddings": embeddings, **write_usage(answer.input_tokens)})


LANGUAGES = (
    language.EmbeddingLanguage(
        name="batch_embed_contents",
        dialect="gemini",
        path_suffix=":batchEmbedContents",
        read_request=_read_batch,
        write_request=_write_batch,
        read_answer=_read_batch_answer,
        write_answer=_write_batch_answer,
        read_error=read_error,
        features=_BATCH,
    ),
    language.EmbeddingLanguage(
        name="embed_content",
        dialect="gemini",
        path_suffix=":embedContent",
        read_request=_read_single,
        write_request=_write_single,
        read_answer=_read_single_answer,
        write_answer=_write_single_answer,
        read_error=read_error,
        features=_SINGLE,
    ),
)

"""OpenAI's embeddings."""

from __future__ import annotations

from msgspec import Raw

from engine.translations.embeddings import language
from engine.translations.neutral.json_members import Members, WrongType, encode
from engine.translations.neutral.language import Feature, Features, RequestLine, TargetRequest
from engine.translations.neutral.losses import Losses
from engine.translations.vendors.openai_content import ERRORS, read_error
from engine.translations.vendors.openai_request_fields import write_user
from engine.values.trees import Json
from engine.values.wildcard import Patterns

_FEATURES = Features(
    {"input": "fox"},
    [
        Feature("input", "several texts", {"input": ["fox", "dog"]}),
        Feature("input", "token numbers", {"input": [1, 2]}),
        Feature("options", "dimensions", {"dimensions": 256}),
        Feature("options", "encoding_format", {"encoding_format": "base64"}),
        Feature("options", "user", {"user": "u1"}),
    ],
)

_TEXTS = "a text or a list of texts: the model takes neither token numbers nor objects"


def read_request(body: bytes, line: RequestLine) -> language.EmbeddingRequest:
    """A request. Raises WrongType, also for token numbers, which mean nothing to another model."""
    unread: list[str] = []
    members = Members(body, "", unread)
    texts = _read_texts(members)
    dimensions = members.integer("dimensions")
    encoding = members.text("encoding_format") or "float"
    if encoding not in ("float", "base64"):
        raise members.wrong("encoding_format", "float or base64")
    request = language.EmbeddingRequest(
        model=members.text("model") or line.model,
        inputs=[
            language.EmbeddingInput(text=text, place=place, dimensions=dimensions)
            for place, text in texts
        ],
        base64=encoding == "base64",
        user=members.text("user") or "",
        unread=unread,
    )
    members.rest()
    return request


def _read_texts(members: Members) -> list[tuple[str, str]]:
    if members.is_text("input"):
        return [("input", members.text("input") or "")]
    try:
        texts = members.texts("input")
    except WrongType as error:
        raise members.wrong("input", _TEXTS) from error
    if not texts:
        raise members.wrong("input", _TEXTS)
    return [(f"input[{index}]", text) for index, text in enumerate(texts)]


def write_request(request: language.EmbeddingRequest, model: str, losses: Losses) -> TargetRequest:
    inputs = request.inputs
    for each in inputs:
        for name, value in (("taskType", each.task_type), ("title", each.title)):
            if value:  # a model without it has one vector for all tasks
                losses.add(f"{each.place}{name}", f"the model has no '{name}'", hint=True)
        if each.dimensions != inputs[0].dimensions:
            losses.add(
                f"{each.place}outputDimensionality", "all vectors of a request have one length"
            )
    body: Json = {"model": model, "input": [each.text for each in inputs]}
    if inputs and inputs[0].dimensions is not None:
        body["dimensions"] = inputs[0].dimensions
    if user := write_user(request.user):
        body["user"] = user
    return TargetRequest(language.encode_embeddings(body, request), "/embeddings")


def read_answer(body: bytes) -> language.Embeddings:
    members = Members(body)
    if "error" in members or "data" not in members:
        ERRORS.refuse(body)
    vectors: dict[int, Raw] = {}
    for position, each in enumerate(members.objects("data")):
        index, vector = each.integer("index"), each.raw("embedding")
        index = position if index is None else index
        if vector is None:
            raise each.wrong("embedding", "a vector")
        if index in vectors:
            raise each.wrong("index", "a number that no other vector has")
        vectors[index] = vector
    if sorted(vectors) != list(range(len(vectors))):
        raise members.wrong("data", "a list with every index from 0")
    return language.Embeddings(vectors=[vectors[index] for index in range(len(vectors))])


def write_answer(answer: language.Embeddings, request: language.EmbeddingRequest) -> bytes:
    write = language.as_base64 if request.base64 else language.as_numbers
    data = [
        {"object": "embedding", "index": index, "embedding": write(vector, f"data[{index}]")}
        for index, vector in enumerate(answer.vectors)
    ]
    tokens = answer.input_tokens or 0  # the member is required
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return encode({"object": "list", "data": data, "model": request.model, "usage": usage})


LANGUAGES = (
    language.EmbeddingLanguage(
        name="embeddings",
        dialect="openai",
        path_suffix="/embeddings",
        read_request=read_request,
        write_request=write_request,
        read_answer=read_answer,
        write_answer=write_answer,
        read_error=read_error,
        hints=Patterns(("user",)),
        features=_FEATURES,
    ),
)

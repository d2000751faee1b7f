"""The kinds of tools that ask a model: what agents give, and the body of the request that it is.

The arguments are the few that agents need, not those of a vendor's API; for all of them list the
operation itself under `operations`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

Arguments = Mapping[str, Any]
Schema = dict[str, Any]

MAX_TEXTS = 100
_DEFAULT_TOKENS = 4_096
_TEXT: Schema = {"type": "string", "minLength": 1}
_TEXTS: Schema = {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": MAX_TEXTS}


class ModelKind(Struct, frozen=True):
    """A kind of tool: how it is described, the schemas of its arguments beside `model`, those that
    are required, and the body that asks `model` by the path of an operation."""

    title: str
    description: str
    properties: Mapping[str, Schema]
    required: tuple[str, ...]
    body: Callable[[Arguments, str, str], dict[str, Any]]


def _chat(arguments: Arguments, model: str, path: str) -> dict[str, Any]:
    messages = [{"role": "user", "content": arguments["prompt"]}]
    system, limit = arguments.get("system"), arguments.get("max_tokens")
    if path.endswith("/messages"):
        body: dict[str, Any] = {"model": model, "max_tokens": limit or _DEFAULT_TOKENS}
        body |= {"system": system} if system else {}
    else:
        body = {"model": model, **({"max_completion_tokens": limit} if limit else {})}
        messages = [*([{"role": "system", "content": system}] if system else []), *messages]
    return {**body, "messages": messages}


def _embed(arguments: Arguments, model: str, path: str) -> dict[str, Any]:
    return {"model": model, "input": arguments["texts"], "encoding_format": "float"}


def _image(arguments: Arguments, model: str, path: str) -> dict[str, Any]:
    size = {"size": arguments["size"]} if "size" in arguments else {}
    return {"model": model, "prompt": arguments["prompt"], "n": 1, **size}


def _transcribe(arguments: Arguments, model: str, path: str) -> dict[str, Any]:
    file = {
        "data": arguments["audio"],
        "filename": arguments.get("filename", "audio.wav"),
        "media_type": arguments.get("media_type", "audio/wav"),
    }
    language = {"language": arguments["language"]} if "language" in arguments else {}
    return {"model": model, "file": file, "response_format": "json", **language}


def _rerank(arguments: Arguments, model: str, path: str) -> dict[str, Any]:
    top = {"top_n": arguments["top_n"]} if "top_n" in arguments else {}
    members = {"query": arguments["query"], "documents": arguments["documents"]}
    return {"model": model, **members, **top}


KINDS: Mapping[str, ModelKind] = {
    "chat": ModelKind(
        "Ask a model",
        "Ask another model a question and get its answer as a text. It sees nothing but `prompt` "
        "and `system`: give it all that it needs.",
        {
            "prompt": {**_TEXT, "description": "The question, with all that it needs."},
            "system": {"type": "string", "description": "How the model is to answer."},
            "max_tokens": {
                "type": "integer",
                "minimum": 1,
                "description": "The most tokens of the answer.",
            },
        },
        ("prompt",),
        _chat,
    ),
    "embed": ModelKind(
        "Embed texts",
        "Get the embedding of each text: a list of numbers that are close for texts that mean the "
        "same.",
        {"texts": {**_TEXTS, "description": "The texts."}},
        ("texts",),
        _embed,
    ),
    "generate_image": ModelKind(
        "Generate an image",
        "Draw an image of what a text describes.",
        {
            "prompt": {**_TEXT, "description": "What the image shows."},
            "size": {"type": "string", "description": "Width and height: 1024x1024."},
        },
        ("prompt",),
        _image,
    ),
    "transcribe": ModelKind(
        "Transcribe speech",
        "Write down what is said in a recording.",
        {
            "audio": {
                "type": "string",
                "contentEncoding": "base64",
                "description": "The recording, in base64.",
            },
            "media_type": {"type": "string", "description": "Its media type: audio/wav."},
            "filename": {"type": "string", "description": "Its name: audio.wav."},
            "language": {"type": "string", "description": "What is spoken: en."},
        },
        ("audio",),
        _transcribe,
    ),
    "rerank": ModelKind(
        "Rerank documents",
        "Order documents by how well each answers a query.",
        {
            "query": {**_TEXT, "description": "What is asked."},
            "documents": {**_TEXTS, "description": "The documents."},
            "top_n": {"type": "integer", "minimum": 1, "description": "The most to return."},
        },
        ("query", "documents"),
        _rerank,
    ),
}

"""Requests for embeddings and their answers, in the neutral form."""

from __future__ import annotations

from msgspec import Raw, Struct


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
    `unread` are the places of everything that has no name here. There are no streams."""

    model: str
    inputs: list[EmbeddingInput]
    base64: bool = False
    user: str = ""
    unread: list[str] = []
    stream: bool = False
    as_list: bool = False


class Embeddings(Struct, kw_only=True):
    """An answer: the vectors in the order of the inputs, each as JSON, a list of numbers or a
    base64 string. `input_tokens` is None where the vendor does not say."""

    vectors: list[Raw]
    input_tokens: int | None = None

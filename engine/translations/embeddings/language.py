"""A language of embeddings: what each module of `languages/` defines as `LANGUAGE`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.translations.embeddings.neutral import EmbeddingRequest, Embeddings
from engine.translations.language import BaseLanguage, RequestLine, TargetRequest
from engine.translations.neutral.losses import Losses


@dataclass(frozen=True, kw_only=True, eq=False)
class EmbeddingLanguage(BaseLanguage):
    """One language of embeddings.

    `read_request` raises WrongType. `write_request` writes a request for a target that calls the
    model so; what it cannot say it adds to the losses. `read_answer` raises WrongType, BrokenAnswer
    or UpstreamError; `write_answer` gets the caller's request beside the answer.
    """

    read_request: Callable[[bytes, RequestLine], EmbeddingRequest]
    write_request: Callable[[EmbeddingRequest, str, Losses], TargetRequest]
    read_answer: Callable[[bytes], Embeddings]
    write_answer: Callable[[Embeddings, EmbeddingRequest], bytes]

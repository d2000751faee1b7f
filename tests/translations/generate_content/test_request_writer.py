"""The request line."""

from __future__ import annotations

from engine.translations.generate_content.request_writer import write_request
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import (
    ChatRequest,
)
from engine.values.wildcard import Patterns
from tests.support.each import each
from tests.translations.generate_content.request_writing import HI


@each(
    ("model", "stream", "path", "query"),
    [
        ("gemini-3-pro", False, "/models/gemini-3-pro:generateContent", ""),
        ("gemini-3-pro", True, "/models/gemini-3-pro:streamGenerateContent", "alt=sse"),
        ("models/gemini-3-pro", False, "/models/gemini-3-pro:generateContent", ""),
        ("tunedModels/my-1", False, "/tunedModels/my-1:generateContent", ""),
        ("a/../b?c", False, "/models/a%2F..%2Fb%3Fc:generateContent", ""),
    ],
)
def test_the_url_names_the_model(model: str, stream: bool, path: str, query: str) -> None:
    request = ChatRequest(language="other", model="alias", messages=[HI], stream=stream)
    target_request = write_request(request, model, Losses(Patterns(())))
    assert (target_request.path, target_request.query) == (path, query)

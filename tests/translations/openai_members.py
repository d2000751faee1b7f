"""What becomes of each member of a request, as its reader decides it."""

from __future__ import annotations

import json
from typing import Any

from engine.translations.neutral.language import Language, RequestLine
from engine.translations.neutral.losses import Loss
from engine.translations.neutral.request import ChatRequest

Json = dict[str, Any]


def fate(language: Language, request: Json, member: str, value: Any) -> str:
    """`carried`: the neutral form says it. `lost`: other languages refuse it by its name. `hint`:
    they leave it out. `harmless`: it says what happens without it."""
    without, with_it = _read(language, request), _read(language, {**request, member: value})
    places = [o for o in with_it.unread if o not in without.unread]
    fields = [Loss(place).field for place in places]
    if fields:
        assert all(field.split(".")[0] == member for field in fields), fields
        return "hint" if all(map(language.hints.match, fields)) else "lost"
    return "harmless" if _neutral(with_it) == _neutral(without) else "carried"


def _read(language: Language, request: Json) -> ChatRequest:
    return language.read_request(json.dumps(request).encode(), RequestLine())


def _neutral(request: ChatRequest) -> ChatRequest:
    request.places, request.extra = {}, {}
    return request

"""The texts of a request before a guard, and the request with what it says in their place."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from engine.exchange.exchange import MISSING, Exchange
from engine.exchange.request_body import Body
from engine.guardrails.guard import Guard
from engine.guardrails.settings import REQUEST
from engine.guardrails.texts import request_texts
from engine.process.preemption import PREEMPTION
from engine.values.errors import GatewayError
from engine.values.json_document import JsonDocument
from engine.values.json_edit import Edit, apply_edits, edits
from engine.values.json_pointer import pointer
from engine.values.json_spans import Ambiguous, JsonPath, refuse_repeated_names
from engine.values.media_types import is_json


def judge_request(guard: Guard, exchange: Exchange) -> None:
    """Judge the texts of a request, and replace those that the guard replaces. Raises GatewayError
    403 and 503, and 400 for a body that cannot be read."""
    if exchange.content.value is MISSING:
        if exchange.body.size and not guard.settings.reports:
            message = "The request body cannot be read, and a rule of this gateway depends on it."
            raise GatewayError(400, "unreadable_body", message)
        return
    if is_json(exchange.content.media_type) and not guard.settings.reports:
        _refuse_repeats(exchange)
    texts = request_texts(exchange)
    paths = {pointer(map(str, path)): path for path in texts}
    by_pointer = {place: texts[path] for place, path in paths.items()}
    PREEMPTION.end()  # it waits for the guard, and what others compute meanwhile is not its own
    changes = guard.judge(exchange, REQUEST, by_pointer)
    if changes:
        _replace(guard, exchange, {paths[place]: text for place, text in changes.items()})


def _refuse_repeats(exchange: Exchange) -> None:
    """Refuse a body that repeats a name: a server may read another of the values than was judged.
    Raises GatewayError 400."""
    try:
        refuse_repeated_names(bytes(exchange.body.buffer))
    except Ambiguous as error:
        message = f"The request body cannot be judged: it {error}."
        raise GatewayError(400, "invalid_value", message) from error


def _replace(guard: Guard, exchange: Exchange, texts: Mapping[JsonPath, str]) -> None:
    """Write texts into the body. A form cannot be changed here: it counts as not judged."""
    if not is_json(exchange.content.media_type):
        guard.fail(exchange, REQUEST, "a text of a form cannot be replaced")
        return
    text = bytes(exchange.body.buffer)
    new = {path: orjson.dumps(value) for path, value in texts.items()}
    changes = edits(text, new)
    document = JsonDocument(apply_edits(text, changes), exchange.content.value)
    for path, value in texts.items():
        document.set_value(path, value)
    _shift_names(exchange, changes)
    exchange.body = Body(document.text)
    exchange.content = exchange.content._replace(value=document.value)


def _shift_names(exchange: Exchange, changes: list[Edit]) -> None:
    """Move the places of the model's name in the body by what is inserted before them."""

    def shifted(at: int) -> int:
        return at + sum(len(new) - (end - start) for start, end, new in changes if end <= at)

    model = exchange.model
    if model.span is not None:
        model.span = shifted(model.span[0]), shifted(model.span[1])
    model.copies = [(shifted(start), shifted(end), prefix) for start, end, prefix in model.copies]

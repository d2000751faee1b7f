"""Checks and errors of requests that are translated, and of their answers; errors of upstreams, in
error responses and where an answer is expected, in any of the forms of
`dialects/interface/error_forms.py`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any

from msgspec import Raw, Struct, field

from engine import dialects
from engine.dialects.interface import error_forms, error_texts
from engine.translations.neutral.answer_json import is_blank
from engine.translations.neutral.events import BrokenAnswer, UpstreamError
from engine.translations.neutral.json_members import WHOLE_TEXT, WrongType
from engine.translations.neutral.losses import Loss, Losses, TooLarge, visible_place
from engine.translations.neutral.request import ChatRequest, Compaction
from engine.values.errors import GatewayError
from engine.values.event_json import json_or_none
from engine.values.trees import Json
from engine.values.wildcard import Patterns

UNREADABLE = (ValueError, OverflowError, RecursionError)
"""The exceptions of reading or writing untrusted values: wrong types (WrongType), invalid JSON or
UTF-8, numbers out of bounds, excessive depth. Nothing else may be raised."""

MAX_OBJECTS = 100_000
"""The largest number of JSON objects in a request that is translated: about a second of CPU."""

MAX_TEXTS = 20_000
"""The largest number of texts in a request for embeddings that is translated: vendors take 2,048 at
most."""

_OBJECT = re.compile(rb'\{\s*+["}]')
_NEXT_TEXT = re.compile(rb'"\s*+,\s*+"')
_MAX_NAMED = 5
Details = Mapping[str, Any]
_NO_DETAILS: Mapping[str, Details] = MappingProxyType({})
_MAX_REASON = 200


class LossRules(Struct, frozen=True):
    """The losses that are allowed: all (`lossy`), or the fields that the wildcards in `drop`
    match."""

    lossy: bool = False
    drop: Patterns = field(default_factory=lambda: Patterns(()))


def check_text(data: bytes) -> bytes:
    """The data, checked to be UTF-8. Raises UnicodeDecodeError."""
    if not data.isascii():
        data.decode()
    return data


def check_objects(body: bytes) -> None:
    """Raise GatewayError 400 for too many: each takes microseconds of the worker."""
    if has_more_objects(body, MAX_OBJECTS):
        raise _too_many(f"{MAX_OBJECTS} JSON objects", "send fewer messages, parts or tools")


def check_texts(body: bytes) -> None:
    """Raise GatewayError 400 for too many texts in lists: each may become an object."""
    if body.count(b",") >= MAX_TEXTS and _has_more(_NEXT_TEXT, body, MAX_TEXTS - 1):
        raise _too_many(f"{MAX_TEXTS} texts", "send fewer in a request")


def _too_many(things: str, advice: str) -> GatewayError:
    message = f"The request has over {things}. So many are not translated for a model of another "
    return GatewayError(400, "request_too_complex", f"{message}vendor: {advice}.")


def has_more_objects(text: bytes, most: int) -> bool:
    """A brace in a string counts only before a quotation mark or a closing brace."""
    if text.count(b"{") <= most:  # nearly every text
        return False
    return _has_more(_OBJECT, text, most)


def _has_more(pattern: re.Pattern[bytes], text: bytes, most: int) -> bool:
    """Whether a pattern occurs more than `most` times in a text."""
    return next(islice(pattern.finditer(text), most, None), None) is not None


def unreadable_request(error: Exception) -> GatewayError:
    """The refusal of a request that is not one of its language."""
    if isinstance(error, WrongType):
        return _wrong_type(error)
    if isinstance(error, TooLarge):
        return _too_large(error)
    message = "The request has a value that cannot be read: it is not UTF-8, is nested too "
    message += "deeply, or has a number that is too large."
    return GatewayError(400, "invalid_value", message)


def unreadable_answer(error: Exception) -> BrokenAnswer:
    """The failure of an upstream whose answer is not one of its language."""
    detail = f": {error}" if isinstance(error, WrongType) else ""
    return BrokenAnswer(f"the upstream's answer is not in its format{detail}")


def refuse_missing_turns(request: ChatRequest) -> None:
    """Raise GatewayError 400 for a request with `missing_turns`, which no rule lets be dropped."""
    missing = request.missing_turns[0]
    place = visible_place(missing.place)
    message = f"The model '{request.model}' does not support '{place}', because the turns that it "
    message += f"refers to are not in the request. {missing.instead}"
    raise _unsupported(message, place, request.error_details.get(missing.place))


def refuse_unsealed(compaction: Compaction, model: str) -> None:
    """Raise GatewayError 400 if a summary is wanted that no key can seal."""
    if compaction.seal is not None:
        return
    message = f"The model '{model}' cannot compact a conversation for '{compaction.place}': the "
    message += "gateway has no key to encrypt the summary with. The operator sets objects.key in "
    message += "gateway.yaml; or let the client ask the model for a summary itself."
    raise _unsupported(message, compaction.place)


def _unsupported(message: str, place: str, details: Details | None = None) -> GatewayError:
    return GatewayError(400, "unsupported_parameter", message, param=place, details=details)


def refuse_losses(
    losses: Losses, rules: LossRules, model: str, details: Mapping[str, Details] = _NO_DETAILS
) -> None:
    """Raise GatewayError 400 for one that is not allowed; `details` are by the field."""
    refused_losses = [] if rules.lossy or not losses.losses else losses.refusals(rules.drop)
    if refused_losses:
        fields = (loss.field for loss in refused_losses)
        details_of_error = next((details[field] for field in fields if field in details), None)
        raise _cannot_carry(refused_losses, model, details_of_error)
    if losses.remainder_error is not None:
        raise _wrong_type(losses.remainder_error)


def refuse_silence(request: ChatRequest, *, needs_turns: bool) -> None:
    """Raise GatewayError 400 for a request without content, or without turns if needed."""
    if not request.messages and (needs_turns or not request.system):
        raise _wrong_type(WrongType(request.place_of("messages"), "at least one turn"))


def _wrong_type(error: WrongType) -> GatewayError:
    if error.place == WHOLE_TEXT:
        message = f"The request must be {error.expected} as JSON, with texts in Unicode."
        return GatewayError(400, "invalid_json", message)
    place = visible_place(error.place)
    message = f"Invalid value for '{place}': expected {error.expected}."
    return GatewayError(400, "invalid_type", message, param=place)


def _too_large(error: TooLarge) -> GatewayError:
    place = visible_place(error.place)
    message = f"The request would have over {error.most} bytes for this model, which is four times "
    message += f"its size and 1 MB, because of '{place}'. {error.detail or 'Send less of it.'}"
    return GatewayError(400, "request_too_complex", message, param=place)


def _cannot_carry(losses: Sequence[Loss], model: str, details: Details | None) -> GatewayError:
    """The refusal of a request, which names the first of its losses."""
    names = []
    for loss in losses[:_MAX_NAMED]:
        reason = f" ({loss.reason[:_MAX_REASON]})" if loss.reason else ""
        names.append(f"'{visible_place(loss.place)}'{reason}")
    more = len(losses) - len(names)
    last = f"{more} more" if more else names.pop()
    fields = f"{', '.join(names)} and {last}" if names else last
    it = "it" if len(losses) == 1 else "them"
    message = f"The model '{model}' does not support {fields}. Leave {it} out, or ask the operator "
    message += f"to drop {it} for this model."
    return _unsupported(message, visible_place(losses[0].place), details)


ErrorReader = Callable[[int, Any], UpstreamError]
"""Reads the JSON of an error response with a status; None for one that is not JSON."""

_NO_ERRORS = frozenset((b"", b"null", b"{}", b"[]", b'""', b"false", b"0"))


def error_members(document: object) -> Json:
    """The members of the error in a JSON value; a list may hold it."""
    if isinstance(document, list):
        document = document[0] if document else None
    if not isinstance(document, dict):
        return {"message": document}
    return error_forms.reported_error(document) or document


def error_of(status: int, document: object, words: tuple[str, ...]) -> UpstreamError:
    """Its code is the first of the members called `words` that is a text."""
    members = error_members(document)
    message = members.get("message")
    if isinstance(message, str) and (inner := error_texts.inner_error(message)) is not None:
        members = {**members, **error_members(inner)}
        message = error_texts.error_text(inner)
    if not isinstance(message, str) or not message:
        message = error_texts.error_text(members)
    if (reason := error_texts.provider_text(members)) and reason not in message:
        message = f"{message}: {reason}"
    texts = (word for name in words if isinstance(word := members.get(name), str) and word)
    error = UpstreamError(status, message, next(texts, ""))
    error.retry_after = error_forms.wait_in(document)
    return error


class AnswerErrors(Struct, frozen=True):
    """Finds errors where an answer is expected; `read` reads those of error responses."""

    dialect: str
    read: ErrorReader

    def inside(self, document: object) -> UpstreamError:
        """The error in the JSON of an event, or of an answer with a status of success."""
        return self.read(dialects.event_status(self.dialect, document), document)

    def refuse(self, data: bytes) -> None:
        """Raise UpstreamError if an event, or an answer, without content reports an error."""
        document = error_forms.event_error(json_or_none(data))
        if error_forms.reported_error(document) is not None:
            raise self.inside(document)

    def refuse_whole(self, data: bytes) -> None:
        """Also raise it for words in place of an answer in one piece, as proxies write them."""
        self.refuse(data)
        if words := error_texts.error_text(json_or_none(data)):
            raise UpstreamError(502, words)


def is_error(member: Raw) -> bool:
    """Whether the member `error` of an answer has one: some servers write it empty."""
    text = bytes(member).strip()
    if text in _NO_ERRORS:
        return False
    value = json_or_none(text)
    return value is None or not is_blank(value)

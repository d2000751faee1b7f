"""The forms in which servers report an error where an answer is expected, and the texts in them.

Vendors document one form; their proxies and the servers that imitate them have others. What is read
here is put into the form of the caller's dialect.
"""

from __future__ import annotations

import re

from engine.dialects.interface.error_texts import MAX_TEXT, TEXT_MEMBERS, error_text
from engine.dialects.interface.streams import END_MARKER, status_in
from engine.values.event_json import event_json
from engine.values.trees import Json

_ERROR_NAME = b"event: error\n"
_MEMBERS = ("message", "msg", "type", "param", "code", "status")
_WORDED = ("errors", "error_msg", "error_message", "detail")
"""Members of an error that is an event; answers of other operations have them too."""
_NUMBERS = ("status", "status_code", "statusCode")
"""Members with an HTTP status."""
_STATED = frozenset({*_WORDED, *_NUMBERS, "success"})
_SIGNS = frozenset({"error", "object", "code", "base_resp", "x_groq"})
"""One of these members is in every error that its type does not tell."""
_SUCCESS = (0, "0", 200, "200", "ok", "OK", "success", "Success")
_FAILURES = ("error", "fail", "failed", "failure")
"""The values of `status` that say that a request has failed."""
_ANSWER_MEMBERS = ("type", "object", "choices", "candidates", "content", "output", "data")
# platform.minimax.io, "Error codes": the HTTP status that other vendors give the same error.
_BASE_RESP = {
    **dict.fromkeys((1026, 1027, 1042, 2013), 400),
    **dict.fromkeys((1004, 2049), 401),
    1008: 402,
    **dict.fromkeys((1002, 1039, 1041, 2056), 429),
    **dict.fromkeys((1000, 1013, 1024, 1033), 500),
    1001: 504,
}
VENDOR_CODES = {
    # docs.z.ai, "Error codes": those of its endpoints for OpenAI's and Anthropic's SDKs.
    **dict.fromkeys(("1000", "1001", "1002", "1003", "1004"), 401),
    **dict.fromkeys(("1210", "1211", "1212", "1213", "1214", "1215", "1231", "1261"), 400),
    **dict.fromkeys(("1221", "1222", "1300", "1301"), 400),
    "1220": 403,
    **dict.fromkeys(("1110", "1111", "1112", "1113", "1120", "1121"), 429),
    **dict.fromkeys(("1302", "1303", "1304", "1305", "1308", "1309"), 429),
    **dict.fromkeys(("1310", "1311", "1312", "1313"), 429),
    **dict.fromkeys(("1200", "1230", "1234"), 500),
}
"""The HTTP status of the errors that vendors number, where they are sent without it."""

_ERROR_TYPES = {
    "validation": 422,
    "template_error": 422,
    "tool_error": 422,
    "overloaded": 429,
    "generation": 500,
    "incomplete_generation": 500,
}
"""The HTTP status by the `error_type` of Hugging Face's server, which is beside the text."""

FAILED = "failed"
"""The status of a response, in the format of the same name, that has failed."""

FAILED_REASONS = (
    *("error", "abort", "insufficient_system_resource", "network_error"),
    *("timeout", "cancelled", "ERROR", "TIMEOUT", FAILED, "server_error", "rate_limit"),
)
"""Finish reasons that mean a failure: OpenRouter and Mistral, vLLM, DeepSeek, Z.ai, TensorRT-LLM,
Cohere, and words of others."""

NO_REASONS = ("null", "None")
"""Finish reasons that say none, as servers write them in the chunks before the last (DashScope)."""

ERROR = b"error"
OTHER_SIGNS = re.compile(
    rb'"(?:(?:code|base_resp|detail|failed|response\.failed|abort|insufficient_system_resource'
    rb'|timeout|cancelled|ERROR|TIMEOUT|rate_limit)"|success"\s*:\s*false'
    rb'|status(?:_?[cC]ode)?"\s*:\s*"?(?:[45]|fail))|\ndata: \[?(?i:error)|\\u00[2-7]'
)
"""Events that report an error have the word `error`, or one of these: names in the other forms, or
an escaped character of ASCII, as no encoder writes it in a name. All alternatives begin with one of
three bytes, behind a line end before the first event: `^` would take twice the time."""

_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)s")
_PLAIN_ERROR = re.compile(rb"data: \[?(?i:error)\b")
_MAX_DETAILS = 20


def event_document(event: bytes) -> object:
    """The JSON value of a clean event, END_MARKER as a text for the end marker, else None. An event
    that is named `error` is an error whatever its data."""
    document = event_json(event)
    if event.startswith(_ERROR_NAME):
        if reported_error(document) is not None:
            return document
        members = document if isinstance(document, dict) else None
        return {"error": members or {"message": _data_text(event).strip("{}") or "error"}}
    if document is None and event.rstrip().endswith(b"data: " + END_MARKER):
        return END_MARKER.decode()
    if document is None and _PLAIN_ERROR.match(event) is not None:
        return {"error": {"message": _data_text(event)}}
    return event_error(document)


def _data_text(event: bytes) -> str:
    text = event.partition(b"data: ")[2][: 4 * MAX_TEXT].decode("utf-8", "replace")
    return text.strip()[:MAX_TEXT]


def event_error(document: object) -> object:
    """The JSON of an event; of one that is an error in a form of its own, in a form that
    `reported_error` reads: the error that a list holds, as Google's servers write it, and texts
    beside no answer: `errors`, `error_msg`, `detail`, and any of what says that it has failed."""
    if isinstance(document, list) and document and reports_error(document[0]):
        return document[0]
    if not isinstance(document, dict) or _STATED.isdisjoint(document) or _has_answer(document):
        return document
    status = next(filter(None, (status_in(document.get(name)) for name in _NUMBERS)), None)
    has_failed = document.get("status") in _FAILURES or document.get("success") is False
    names = TEXT_MEMBERS if has_failed or status else _WORDED
    text = error_text({name: document[name] for name in names if name in document})
    if not text or reports_error(document):
        return document
    return {"error": {"message": text, **({"status": status} if status else {})}}


def reported_error(document: object) -> Json | None:
    """The members of the error that the JSON of an event, or of an answer with a status of success,
    reports; None for one that reports no error.

    `{"error": ...}`; members at the top beside `"type": "error"` or `"object": "error"`;
    `{"code", "message", "data": null}`; MiniMax's `base_resp`; a text in Groq's `x_groq`.
    """
    if not isinstance(document, dict):
        return None
    if _SIGNS.isdisjoint(document):  # nearly every event
        return _members(document) if document.get("type") == "error" else None
    error = document.get("error")
    if isinstance(error, dict):
        if any(error.values()):  # some servers write all members, with empty values
            return error
    elif error:
        return _text_error(document)
    if (error := _groq_error(document.get("x_groq"))) is not None:
        return error
    if document.get("type") == "error" or document.get("object") == "error":
        return _members(document)
    if "code" not in document and "base_resp" not in document:
        return None
    base = document.get("base_resp")
    if isinstance(base, dict) and type(code := base.get("status_code")) is int and code:
        status = _BASE_RESP.get(code)
        return {"message": error_text(base), "code": str(code), "status": status}
    code = document.get("code")
    text = document.get("message") or document.get("msg")
    if not code or code in _SUCCESS or not isinstance(text, str):
        return None
    return None if _has_answer(document) else _members(document)


def _has_answer(document: Json) -> bool:
    return any(document.get(name) for name in _ANSWER_MEMBERS)


def _text_error(document: Json) -> Json:
    """An error that is a text, or a list of them; Hugging Face's server adds its type."""
    kind = document.get("error_type")
    status = _ERROR_TYPES.get(kind) if isinstance(kind, str) else None
    return {"message": error_text(document), **({"status": status} if status else {})}


def _groq_error(extra: object) -> Json | None:
    """The error in `x_groq`, which says why a stream was stopped early."""
    error = extra.get("error") if isinstance(extra, dict) else None
    return {"message": error_text(error), "code": error} if error else None


def reports_error(document: object) -> bool:
    """Whether the JSON of an event, or of an answer, reports an error."""
    return reported_error(document) is not None


def _members(document: Json) -> Json:
    members = {name: document[name] for name in _MEMBERS if name in document}
    if members.get("type") == "error":  # of the event
        del members["type"]
    return members


def wait_in(document: object) -> float | None:
    """The seconds to wait that the details of an error name (`retryDelay` of google.rpc.RetryInfo,
    a google.protobuf.Duration such as `12.5s`); None if it names none. A list may hold the error.
    """
    if isinstance(document, list):
        document = document[0] if document else None
    if not isinstance(document, dict):
        return None
    error = document.get("error")
    details = (error if isinstance(error, dict) else document).get("details")
    for detail in details[:_MAX_DETAILS] if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        match = _DURATION.fullmatch(delay) if isinstance(delay, str) else None
        if match is not None and float(match[1]):
            return float(match[1])
    return None

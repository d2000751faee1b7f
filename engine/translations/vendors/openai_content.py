"""What contents and answers in OpenAI's two languages have in common: texts of refusal, sounds,
URLs and files, log probabilities, citations of web pages and errors; the reason why a block is not
supported; and instructions for models of other vendors."""

from __future__ import annotations

import base64
import re
from functools import cache
from mimetypes import MimeTypes
from typing import TypeGuard
from urllib.parse import unquote_to_bytes

from msgspec import Struct
from msgspec.structs import replace

from engine.translations.neutral import content as neutral
from engine.translations.neutral.events import TokenLogprob, UpstreamError
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.refusals import AnswerErrors, error_of
from engine.translations.neutral.request import ChatRequest
from engine.translations.neutral.request_json import JsonObject
from engine.translations.neutral.turns import hoisted, texts_only
from engine.values.trees import Json

_PDF, _PDF_BEGIN = "application/pdf", "JVBERi0"
_PIECE = re.compile(r"(?:[^%]*+%[^%]{0,2}+){1,4096}+|[^%]++")
"""Text with some escapes: to decode all at once takes eighty times the memory."""


@cache
def _types() -> MimeTypes:
    """The media types by the ends of file names: read for the first file, as they take 0.4 MB."""
    return MimeTypes()


class RefusalPart(JsonObject, tag="refusal"):
    refusal: str | None = None


class InputAudio(JsonObject):
    data: str | None = None
    format: str | None = None


class AudioPart(JsonObject, tag="input_audio"):
    input_audio: InputAudio


def required(text: str | None, place: str) -> str:
    if not text:
        raise WrongType(place, "a string that is not empty")
    return text


def read_refusal(part: RefusalPart, place: str, unread: list[str]) -> neutral.Block:
    return neutral.Refusal(text=part.refusal or "")


def read_audio(part: AudioPart, place: str, unread: list[str]) -> neutral.Block:
    audio, where = part.input_audio, f"{place}.input_audio"
    kind = required(audio.format, f"{where}.format")
    source = neutral.inline(f"audio/{kind}", required(audio.data, f"{where}.data"))
    return neutral.Media(kind="audio", source=source)


def read_data_url(url: str, place: str) -> neutral.Inline:
    """The media type, in lower case and without parameters, and the content in base64."""
    head, comma, data = url[5:].partition(",")
    if not comma:
        raise WrongType(place, "a data URL: data:<media type>;base64,<data>")
    media_type, *parameters = (part.strip() for part in head.split(";"))
    if "base64" not in (parameter.lower() for parameter in parameters):
        data = base64.b64encode(b"".join(map(unquote_to_bytes, _PIECE.findall(data)))).decode()
    source = _checked(neutral.inline(media_type.lower(), data), place)
    return neutral.Inline(source.media_type or "text/plain", source.data)


def _checked(source: neutral.Inline, place: str) -> neutral.Inline:
    try:
        base64.b64decode(source.data, validate=True)
    except ValueError as error:  # binascii.Error, or characters outside of ASCII
        raise WrongType(place, "a data URL whose data is base64") from error
    return source


def read_url(url: str, place: str) -> neutral.Source:
    """The content of a `data:` URL, or a link. Raises WrongType."""
    return read_data_url(url, place) if url[:5].lower() == "data:" else neutral.Link(url)


def read_file_data(data: str, name: str, place: str) -> neutral.Inline:
    """The content of the file `name`: a data URL, or base64 alone of a PDF or of a file whose name
    tells its type. Raises WrongType."""
    if data[:5].lower() == "data:":
        return read_data_url(data, place)
    media_type = _PDF if data.startswith(_PDF_BEGIN) else _types().guess_type(name)[0]
    if media_type is None or not data:
        raise WrongType(place, "a data URL: data:<media type>;base64,<data>")
    return _checked(neutral.inline(media_type, data), place)


def is_sendable(source: neutral.Source) -> TypeGuard[neutral.Inline | neutral.Link]:
    """Whether content can be sent as a URL: it is inside the request or on the web."""
    return isinstance(source, neutral.Inline) or (
        isinstance(source, neutral.Link) and source.is_web
    )


def write_url(source: neutral.Inline | neutral.Link) -> str:
    if isinstance(source, neutral.Link):
        return source.url
    return f"data:{source.media_type};base64,{source.data}"


class TopToken(Struct):
    token: str | None = None
    logprob: float | None = None


class Token(TopToken):
    """A token of an answer, with the most likely ones at its place."""

    top_logprobs: list[TopToken] | None = None


class UrlCitation(Struct):
    url: str | None = None
    title: str | None = None
    start_index: int | None = None
    end_index: int | None = None


def read_logprobs(tokens: list[Token] | None) -> list[TokenLogprob]:
    return [
        TokenLogprob(*_read_token(each), [*map(_read_token, each.top_logprobs or ())])
        for each in tokens or ()
    ]


def _read_token(token: TopToken) -> tuple[str, float]:
    return token.token or "", token.logprob or 0.0


def write_logprobs(logprobs: list[TokenLogprob]) -> list[Json]:
    return [
        {**_token(o.token, o.logprob), "top_logprobs": [_token(*top) for top in o.top]}
        for o in logprobs
    ]


def _token(token: str, logprob: float) -> Json:
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}


def read_citation(page: UrlCitation) -> neutral.Citation:
    return neutral.Citation(page.url or "", page.title or "", "", page.start_index, page.end_index)


def write_citation(citation: neutral.Citation, offset: int, length: int) -> Json:
    """The members of a `url_citation` in a text that begins at `offset` and has `length`
    characters."""
    start, end = citation.span(length)
    return {
        "start_index": offset + start,
        "end_index": offset + end,
        "url": citation.url,
        "title": citation.title,
    }


def read_error(status: int, document: object) -> UpstreamError:
    error = error_of(status, document, ("code", "type"))
    error.code = "" if error.code == "error" else error.code  # the type of an event
    return error


ERRORS = AnswerErrors("openai", read_error)


def with_one_instruction(request: ChatRequest, losses: Losses) -> ChatRequest:
    """All instructions in one text before the turns: many chat templates of open models refuse
    others (https://github.com/vllm-project/vllm/issues/41114)."""
    if len(request.system) < 2 and all(each.role != "system" for each in request.messages):
        return request
    system, turns = hoisted(request)
    texts = [block.text for block in texts_only(system, losses) if isinstance(block, neutral.Text)]
    text = "\n\n".join(filter(None, texts))
    return replace(request, system=[neutral.Text(text=text)] if text else [], messages=turns)

"""Values of parameters as the standard writes them, by location, style and explode."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from tests.documents.document import NotJudged, Part

_DELIMITERS = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "|"}


def text_of(value: Any) -> str:
    """A scalar as text. Raises NotJudged for null and for a value with members."""
    if value is None or isinstance(value, dict | list):
        raise NotJudged("null or a value with members, in a text")
    return value if isinstance(value, str) else json.dumps(value)


def _style(parameter: Part, default: str) -> tuple[str, bool]:
    style = parameter.value.get("style")
    style = style if isinstance(style, str) else default
    explode = parameter.value.get("explode")
    return style, explode if isinstance(explode, bool) else style == "form"


def path_text(parameter: Part, value: Any) -> str:
    """What stands in a path in place of a variable."""
    name = parameter.value["name"]
    if "content" in parameter.value:
        return quote(_content_text(parameter, value), safe="")
    style, explode = _style(parameter, "simple")
    items = _simple(value, explode)
    if style == "simple":
        return ",".join(items)
    if style == "label":
        return "." + ("." if explode else ",").join(items)
    if style == "matrix" and isinstance(value, dict | list) and explode:
        prefix = "" if isinstance(value, dict) else f"{name}="
        return "".join(f";{prefix}{item}" for item in items)
    if style == "matrix":
        return f";{name}={','.join(items)}"
    raise NotJudged(f"the style {style} in a path")


def _content_text(parameter: Part, value: Any) -> str:
    """The text of a value of a media type."""
    is_json = any("json" in media_type for media_type in parameter.value["content"])
    return json.dumps(value) if is_json else text_of(value)


def header_text(parameter: Part, value: Any) -> str:
    """The value of a header: nothing is percent-encoded in it."""
    _, explode = _style(parameter, "simple")
    has_content = "content" in parameter.value
    text = _content_text(parameter, value) if has_content else ",".join(_plain(value, explode))
    if not text.isprintable() or not text.isascii() or text != text.strip():
        raise NotJudged("a header of other characters")
    return text


def query_texts(parameter: Part, value: Any) -> Iterator[str]:
    """`name=value`, percent-encoded. Raises NotJudged for what no style describes."""
    name = quote(parameter.value["name"], safe="")
    if "content" in parameter.value:
        yield f"{name}={quote(_content_text(parameter, value), safe='')}"
        return
    style, explode = _style(parameter, "form")
    if style == "deepObject":
        yield from brackets(name, value)
    elif style not in _DELIMITERS:
        raise NotJudged(f"the style {style} in a query")
    elif not isinstance(value, dict | list):
        yield f"{name}={_encoded(value)}"
    elif not value:
        raise NotJudged("an empty list or object in a query")
    elif not explode:
        yield f"{name}={_DELIMITERS[style].join(_simple(value, explode=False))}"
    elif isinstance(value, list):
        yield from (f"{name}={_encoded(item)}" for item in value)
    else:
        yield from (f"{quote(key, safe='')}={_encoded(item)}" for key, item in value.items())


def is_deep(value: Any) -> bool:
    """Whether only brackets can name the parts of a value."""
    items = value if isinstance(value, list) else ()
    return isinstance(value, dict) or any(isinstance(item, dict | list) for item in items)


def brackets(name: str, value: Any) -> Iterator[str]:
    """`name[a][b]=x`, percent-encoded; the items of a list have numbers if they have parts, as Rack
    and PHP read them."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from brackets(f"{name}%5B{quote(key, safe='')}%5D", item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            number = index if is_deep(value) else ""
            yield from brackets(f"{name}%5B{number}%5D", item)
    else:
        yield f"{name}={_encoded(value)}"


def _simple(value: Any, explode: bool) -> list[str]:
    return [_quoted_pair(item) for item in _pairs(value, explode)]


def _plain(value: Any, explode: bool) -> list[str]:
    return ["=".join(pair) for pair in _pairs(value, explode)]


def _pairs(value: Any, explode: bool) -> list[tuple[str, ...]]:
    """The items of a list, or the members of an object, each as one text or as two."""
    if isinstance(value, list):
        return [(text_of(item),) for item in value]
    if isinstance(value, dict) and explode:
        return [(key, text_of(item)) for key, item in value.items()]
    if isinstance(value, dict):
        return [(text,) for key, item in value.items() for text in (key, text_of(item))]
    return [(text_of(value),)]


def _quoted_pair(pair: tuple[str, ...]) -> str:
    return "=".join(quote(text, safe="") for text in pair)


def _encoded(value: Any) -> str:
    return quote(text_of(value), safe="")

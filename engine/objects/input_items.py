"""Pages of the input items of a response that the records keep."""

from __future__ import annotations

from typing import Any

import orjson

from engine.spec.parameters.query_string import Query
from engine.values.errors import GatewayError

_DEFAULT, _MAX = 20, 100
_DIGITS = len(str(_MAX))


def input_page(items: bytes, text: str) -> bytes:
    """The JSON of the page of items that a query asks for: newest first, unless `order` is asc. An
    item without an id gets that of its index. Raises GatewayError 400."""
    query = Query.parse(text)
    rows = [_with_id(item, index) for index, item in enumerate(orjson.loads(b"[%b]" % items))]
    order = query.get("order") or "desc"
    if order not in ("asc", "desc"):
        raise GatewayError(400, "invalid_value", "'order' is asc or desc.", param="order")
    if order == "desc":
        rows.reverse()
    size = _size(query.get("limit") or "")
    names = [row.get("id") for row in rows]
    after = query.get("after")
    if after and after not in names:
        message = f"'after' is '{after[:100]}', which is no item of this response."
        raise GatewayError(400, "invalid_value", message, param="after")
    start = names.index(after) + 1 if after else 0
    page = rows[start : start + size]
    return orjson.dumps(
        {
            "object": "list",
            "data": page,
            "first_id": page[0].get("id") if page else None,
            "last_id": page[-1].get("id") if page else None,
            "has_more": start + size < len(rows),
        }
    )


def _size(text: str) -> int:
    if not text:
        return _DEFAULT
    size = int(text) if text.isdecimal() and len(text) <= _DIGITS else 0
    if not 1 <= size <= _MAX:
        message = f"'limit' is a number from 1 to {_MAX}."
        raise GatewayError(400, "invalid_value", message, param="limit")
    return size


def _with_id(item: Any, index: int) -> Any:
    if not isinstance(item, dict) or item.get("id"):
        return item
    content = item.get("content")
    if isinstance(content, str):  # the short form of a message
        item = {**item, "content": [{"type": "input_text", "text": content}]}
    return {"type": "message", **item, "id": f"item_{index:06}"}

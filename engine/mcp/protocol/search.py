"""Search among the tools of a server: `SearchIndex`, and the two tools that stand for all others of
a server that has many.

Ranking: BM25 (k1 1.2, b 0.75) over the words of a tool, those of its name counted four times, of
its title twice, of its description and of its arguments' names once. Words end at every character
that is no letter or digit and where a capital letter follows a small one; a plural is its singular.
A tool whose name is the query comes first. Of equal tools the earlier one in the list comes first.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson

from engine.mcp.listed_tool import ListedTool

_NAME, _TITLE = 4, 2
_K1, _B = 1.2, 0.75
_MAX_WORDS = 64
_MAX_QUERY = 2_000
"""Characters of a query that are read."""
_WORD = re.compile(r"[^\W\d_]+|\d+")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LONG_PLURAL = 3
SEARCH, CALL = "search_tools", "call_tool"
DEFAULT_LIMIT, MAX_LIMIT = 5, 20
_MAX_BYTES = 200_000
_READ = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
SEARCH_TOOLS: tuple[Mapping[str, Any], ...] = (
    {
        "name": SEARCH,
        "title": "Search tools",
        "description": "Find tools by words of what they do, for example 'create order'. Returns "
        "the best matches with their names, descriptions and input schemas. Call one of them with "
        f"{CALL}.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Words of the task, in any order"},
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_LIMIT,
                    "default": DEFAULT_LIMIT,
                    "description": "Tools to return",
                },
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        "annotations": _READ,
    },
    {
        "name": CALL,
        "title": "Call a tool",
        "description": f"Call a tool that {SEARCH} has found, with arguments as its input schema "
        "describes.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The tool's name"},
                "arguments": {"type": "object", "description": "The tool's arguments"},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
    },
)
"""What a list has in place of all tools."""


class SearchIndex:
    """The words of tools, indexed once."""

    def __init__(self, tools: Sequence[ListedTool]) -> None:
        self._tools = tools
        self._postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._lengths: list[int] = []
        self._names = {tool.name.lower(): number for number, tool in enumerate(tools)}
        for number, tool in enumerate(tools):
            counts = _counts(tool)
            self._lengths.append(sum(counts.values()))
            for word, count in counts.items():
                self._postings[word].append((number, count))
        self._average = max(1.0, sum(self._lengths) / max(1, len(tools)))

    def find(self, query: str, visible: Collection[str], limit: int) -> list[ListedTool]:
        """The best tools for a query, of those whose names are `visible`; of a query without words
        the first ones."""
        query = query[:_MAX_QUERY]
        words = words_of(query)[:_MAX_WORDS]
        if not words:
            return [tool for tool in self._tools if tool.name in visible][:limit]
        scores: defaultdict[int, float] = defaultdict(float)
        for word in dict.fromkeys(words):
            postings = self._postings.get(word, ())
            rarity = math.log(1 + (len(self._tools) - len(postings) + 0.5) / (len(postings) + 0.5))
            for number, count in postings:
                length = self._lengths[number] / self._average
                scores[number] += (
                    rarity * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length))
                )
        if (exact := self._names.get(query.strip().lower())) is not None:
            scores[exact] = math.inf
        order = sorted(scores, key=lambda number: (-scores[number], number))
        tools = (self._tools[number] for number in order)
        return [tool for tool in tools if tool.name in visible][:limit]


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case and in the singular."""
    return [_singular(word.lower()) for word in _WORD.findall(_CAPITAL.sub(" ", text))]


def _singular(word: str) -> str:
    if len(word) <= _LONG_PLURAL or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    return word[:-3] + "y" if word.endswith("ies") else word[:-1]


def _counts(tool: ListedTool) -> Counter[str]:
    counts: Counter[str] = Counter()
    arguments = " ".join(map(str, tool.input_schema.get("properties") or ()))
    for text, weight in (
        (tool.name, _NAME),
        (tool.title, _TITLE),
        (tool.description, 1),
        (arguments, 1),
    ):
        for word in words_of(text):
            counts[word] += weight
    return counts


def matches_document(tools: Sequence[ListedTool], total: int) -> dict[str, Any]:
    """The answer of a search, as large as agents can use: of tools beyond it no schema is given."""
    matches, size = list[dict[str, Any]](), 0
    for tool in tools:
        match: dict[str, Any] = {"name": tool.name, "description": tool.description}
        schema = orjson.dumps(tool.input_schema)
        size += len(schema)
        if size <= _MAX_BYTES:
            match["inputSchema"] = tool.input_schema
        matches.append(match)
    return {"tools": matches, "searched": total}

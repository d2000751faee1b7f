"""What an answer says, read here without the program: texts, calls, citations, and why it ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass
class Saying:
    """What an answer says. `stop` is the class of its finish reason: "tools", "end", "length" or
    "other"; a call is its name and the JSON value of its arguments. `urls` are those that it cites,
    `spans` the places of the citations in the text, where its language has them."""

    text: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    urls: set[str] = field(default_factory=set)
    spans: list[tuple[int, int]] = field(default_factory=list)
    stop: str = ""

    def cite(self, citation: Json) -> None:
        """A citation of the text."""
        if url := citation.get("url"):
            self.urls.add(url)
        if "start_index" in citation:
            self.spans.append((citation["start_index"], citation["end_index"]))


def saying_of(language: str, documents: list[Json]) -> Saying:
    """What an answer of a language says: one document, or those of a stream."""
    return _SAYINGS[language](documents)


def _arguments(text: str) -> Any:
    return json.loads(text) if text.strip() else {}


_STOPS = {
    "tools": ("tool_calls", "function_call", "tool_use"),
    "length": ("length", "max_tokens", "MAX_TOKENS", "incomplete"),
    "end": (
        *("", "stop", "end_turn", "STOP", "completed", "complete", "stop_sequence"),
        *("pause_turn", "compaction"),  # the vendor rested
    ),
}


def stop_class(word: str | None) -> str:
    """The class of a finish reason."""
    return next((name for name, words in _STOPS.items() if (word or "") in words), "other")


def _chat(documents: list[Json]) -> Saying:
    said, calls = Saying(), {}
    for document in documents:
        for choice in document.get("choices") or ():
            message = choice.get("message") or choice.get("delta") or {}
            content = message.get("content") or ""
            parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
            said.text += "".join(part["text"] for part in parts if part["type"] == "text")
            for entry in message.get("annotations") or ():
                said.cite(entry.get("url_citation") or {})
            for number, call in enumerate(message.get("tool_calls") or ()):
                key = call.get("index", number)
                name, arguments = calls.get(key, ("", ""))
                function = call["function"]
                more = function.get("arguments") or ""
                calls[key] = (name or function.get("name") or "", arguments + more)
            said.stop = choice.get("finish_reason") or said.stop
    said.calls = [(name, _arguments(text)) for name, text in calls.values()]
    said.stop = stop_class(said.stop)
    return said


def _messages(documents: list[Json]) -> Saying:
    said, inputs = Saying(), {}
    blocks: dict[int, Json] = {}
    for event in documents:
        kind = event["type"]
        if kind == "message":
            blocks = dict(enumerate(event["content"]))
            said.stop = event["stop_reason"]
        elif kind == "content_block_start":
            blocks[event["index"]] = event["content_block"]
        elif kind == "content_block_delta":
            block, delta = blocks[event["index"]], event["delta"]
            if delta["type"] == "text_delta":
                block["text"] += delta["text"]
            elif delta["type"] == "input_json_delta":
                index = event["index"]
                inputs[index] = inputs.get(index, "") + delta["partial_json"]
            elif delta["type"] == "citations_delta":
                block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
        elif kind == "message_delta":
            said.stop = event["delta"]["stop_reason"] or said.stop
    for index, block in blocks.items():
        if block["type"] == "text":
            said.text += block["text"]
            for each in block.get("citations") or ():
                said.cite(each)
        elif block["type"] == "tool_use":
            text = inputs.get(index, "")
            said.calls.append((block["name"], _arguments(text) if text else block["input"]))
    said.stop = stop_class(said.stop)
    return said


def _converse(documents: list[Json]) -> Saying:
    said, inputs = Saying(), {}
    blocks: dict[int, Json] = {}
    for event in documents:
        if "output" in event:
            blocks = dict(enumerate(event["output"]["message"]["content"]))
            said.stop = event["stopReason"]
        elif "contentBlockStart" in event:
            start = event["contentBlockStart"]
            blocks[start["contentBlockIndex"]] = start["start"]
        elif "contentBlockDelta" in event:
            index, delta = (event["contentBlockDelta"][o] for o in ("contentBlockIndex", "delta"))
            block = blocks.setdefault(index, {})
            if "text" in delta:
                block["text"] = block.get("text", "") + delta["text"]
            if "toolUse" in delta:
                inputs[index] = inputs.get(index, "") + delta["toolUse"]["input"]
        elif "messageStop" in event:
            said.stop = event["messageStop"]["stopReason"]
    for index, block in blocks.items():
        said.text += block.get("text", "")
        if "toolUse" in block and block["toolUse"].get("type") != "server_tool_use":
            call, text = block["toolUse"], inputs.get(index, "")
            said.calls.append((call["name"], call.get("input") or _arguments(text)))
    said.stop = stop_class(said.stop)
    return said


def _gemini(documents: list[Json]) -> Saying:
    said = Saying()
    for document in documents:
        said.stop = document.get("promptFeedback", {}).get("blockReason", said.stop)
        for candidate in document.get("candidates") or ():
            for part in candidate.get("content", {}).get("parts", ()):
                if "functionCall" in part:
                    call = part["functionCall"]
                    said.calls.append((call["name"], call.get("args", {})))
                elif not part.get("thought"):
                    said.text += part.get("text", "")
            _ground(said, candidate.get("groundingMetadata", {}))
            said.stop = candidate.get("finishReason", said.stop)
    has_calls = said.stop == "UNEXPECTED_TOOL_CALL" and said.calls  # of a tool that is not declared
    said.stop = "tools" if has_calls else stop_class(said.stop)
    return said


def _ground(said: Saying, grounding: Json) -> None:
    chunks = [next(iter(each.values())) for each in grounding.get("groundingChunks", ())]
    for support in grounding.get("groundingSupports", ()):
        segment = support.get("segment", {})
        span = [segment.get("startIndex", 0), segment.get("endIndex", 0)]
        start, end = (len(said.text.encode()[:place].decode(errors="ignore")) for place in span)
        for index in support.get("groundingChunkIndices", ()):
            place = {"start_index": start, "end_index": end}
            said.cite({"url": chunks[index].get("uri"), **place})


def _responses(documents: list[Json]) -> Saying:
    said = Saying()
    response = documents[-1]
    response = response.get("response", response)
    for item in response.get("output") or ():
        if item["type"] == "function_call":
            said.calls.append((item["name"], _arguments(item["arguments"])))
        for part in item.get("content") or () if item["type"] == "message" else ():
            offset = len(said.text)
            said.text += part.get("text") or part.get("refusal") or ""
            for each in part.get("annotations") or ():
                if each["type"] == "url_citation":
                    names = ("start_index", "end_index")
                    place = {o: each[o] + offset for o in names if o in each}
                    said.cite({**each, **place})
    said.stop = stop_class(response.get("status"))
    if (response.get("incomplete_details") or {}).get("reason") == "content_filter":
        said.stop = "other"
    return said


_SAYINGS: dict[str, Callable[[list[Json]], Saying]] = {
    "chat_completions": _chat,
    "messages": _messages,
    "converse": _converse,
    "generate_content": _gemini,
    "responses": _responses,
}

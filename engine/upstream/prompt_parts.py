"""What a model server puts into the prompt of a chat, to count its tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from msgspec import Struct

from engine.translations.neutral import content
from engine.translations.neutral.request import BuiltInTool, ChatRequest, Tool, callable_tools


class PromptParts(Struct):
    """The `texts` of a prompt, the number of `turns` between which a chat template writes its
    marks, and the sizes in bytes of its `files`, 0 for one that is only named."""

    texts: list[str] = []
    turns: int = 0
    files: list[int] = []


def prompt_parts(request: ChatRequest) -> PromptParts:
    """The parts of the prompt of a request: instructions, turns, calls and results of tools, and
    the declarations of tools, as JSON in the form that chat templates of open models write."""
    parts = PromptParts()
    if request.system:
        parts.turns += 1
        parts.texts += [text.text for text in request.system]
    for tool in callable_tools(request):
        parts.texts.append(_declaration(tool))
    for message in request.messages:
        results = sum(isinstance(block, content.ToolResult) for block in message.blocks)
        parts.turns += results + (results < len(message.blocks) or not results)
        _add_blocks(message.blocks, parts)
    return parts


def _add_blocks(blocks: Iterable[content.Block], parts: PromptParts) -> None:
    for block in blocks:
        if isinstance(block, content.ToolResult):
            _add_blocks(block.content, parts)
        elif isinstance(block, content.Media) and isinstance(block.source, content.PlainText):
            parts.texts.append(block.source.text)
        elif isinstance(block, content.Media):
            source = block.source
            parts.files.append(
                len(source.data) * 3 // 4 if isinstance(source, content.Inline) else 0
            )
        else:
            parts.texts += _texts(block)


def _texts(block: content.Block) -> Iterator[str]:
    if isinstance(block, content.Text | content.Refusal | content.Reasoning):
        yield block.text
    elif isinstance(block, content.ToolCall):
        yield f'{{"name": "{block.name}", "arguments": {block.arguments or "{}"}}}'
    elif isinstance(block, content.Foreign):
        yield bytes(block.raw).decode("utf-8", "replace")


def _declaration(tool: Tool | BuiltInTool) -> str:
    if isinstance(tool, BuiltInTool):
        return bytes(tool.raw).decode("utf-8", "replace")
    schema = json.loads(bytes(tool.schema)) if tool.schema is not None else {}
    function = {"name": tool.name, "description": tool.description, "parameters": schema}
    return json.dumps({"type": "function", "function": function}, ensure_ascii=False)

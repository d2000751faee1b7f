"""Substitutes of blocks and tools that only the caller's language has."""

from __future__ import annotations

from itertools import chain
from operator import attrgetter

import msgspec

from engine.translations.neutral.content import Block, Foreign, ToolResult
from engine.translations.neutral.request import BuiltInTool, ChatRequest, Message, Tool

_blocks = attrgetter("blocks")


def with_substitutes(request: ChatRequest, language: str) -> ChatRequest:
    """The request for a target of `language`, with functions and blocks that replace the tools and
    blocks that only the caller's language has."""
    if request.language == language or not _may_have_substitutes(request):
        return request
    return msgspec.structs.replace(
        request,
        tools=_tools(request),
        messages=[_message(message) for message in request.messages],
    )


def _may_have_substitutes(request: ChatRequest) -> bool:
    blocks = chain.from_iterable(map(_blocks, request.messages))
    if Foreign in map(type, blocks) or BuiltInTool in map(type, request.tools):
        return True
    return bool(request.loaded_tools or request.deferred_tools)


def _tools(request: ChatRequest) -> list[Tool | BuiltInTool]:
    """The tools, and the loaded ones that are not declared already."""
    deferred = request.deferred_tools
    tools = [tool for tool in _functions(request.tools) if tool.name not in deferred]
    if request.loaded_tools:
        names = {tool.name for tool in tools if isinstance(tool, Tool)}
        for tool in _functions(request.loaded_tools):
            if tool.name not in names:
                names.add(tool.name)
                tools.append(tool)
    return tools


def _functions(tools: list[Tool | BuiltInTool]) -> list[Tool | BuiltInTool]:
    functions: list[Tool | BuiltInTool] = []
    for tool in tools:
        if isinstance(tool, BuiltInTool) and tool.functions:
            functions += tool.functions
        else:
            functions.append(tool)
    return functions


def _message(message: Message) -> Message:
    for block in message.blocks:
        if _has_substitute(block):
            return msgspec.structs.replace(
                message, blocks=[_block(each) for each in message.blocks]
            )
    return message


def _has_substitute(block: Block) -> bool:
    if isinstance(block, ToolResult):
        return any(map(_has_substitute, block.content))
    return isinstance(block, Foreign) and block.substitute is not None


def _block(block: Block) -> Block:
    if isinstance(block, ToolResult) and _has_substitute(block):
        return msgspec.structs.replace(block, content=[_block(each) for each in block.content])
    return block.substitute or block if isinstance(block, Foreign) else block

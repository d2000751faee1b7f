"""Counts the tokens of requests by the tokenizer of a model (`models.x.tokenizer`), and estimates
them for models whose upstreams cannot count tokens in the caller's format.

A chat is counted as a server of open models writes its prompt: the texts of its turns, the
declarations of its tools, and for the marks of the chat template MARKS for each turn and START for
the beginning of the answer. A template's own sentences are not counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from engine import translations
from engine.config.model_operation import ModelOperation
from engine.exchange.exchange import Exchange, Handler, Response
from engine.exchange.prompt_text import prompt_values
from engine.metering.estimate import estimate, file_tokens
from engine.metering.tokenizer import MAX_TEXT, Tokenizer
from engine.translations.neutral import content
from engine.translations.neutral.refusals import UNREADABLE
from engine.translations.neutral.request import BuiltInTool, ChatRequest, Tool, callable_tools
from engine.upstream.conditions.request_facts import language_of_request, read_chat
from engine.values.errors import GatewayError
from engine.values.usage import Takes

MARKS = 5
"""Tokens of a chat template for each turn: its beginning, role, line ends and end."""

START = 3
"""Tokens of a chat template behind the last turn."""

CountTokens = Callable[[Exchange], int | None]
ESTIMATE_HEADER = "x-modelway-estimate"
"""The header of answers that no upstream gave: what it estimates."""
_HEADERS = [("content-type", "application/json"), (ESTIMATE_HEADER, "tokens")]
_REQUEST = Takes()
_UNKNOWN_PATH = (404, 405, 501)


def token_counter(tokenizer: Tokenizer) -> CountTokens:
    """A function that counts the tokens of a request whose JSON body was parsed; it returns None
    for one that cannot be read, which the upstream will refuse."""

    def count(exchange: Exchange) -> int | None:
        language = language_of_request(exchange)
        if language is None:
            return _count_plain(exchange, tokenizer)
        try:
            parts = prompt_parts(read_chat(exchange, language))
        except (*UNREADABLE, GatewayError):
            return None
        tokens = tokenizer.count(parts.texts) + sum(map(file_tokens, parts.files))
        return tokens + MARKS * parts.turns + START

    return count


def _count_plain(exchange: Exchange, tokenizer: Tokenizer) -> int:
    """The tokens of a request that is not a chat, as for embeddings: of its texts, and of those
    that are given as numbers."""
    texts: list[str] = []
    numbers = size = 0
    for value in prompt_values(exchange):
        if isinstance(value, str):
            texts.append(value)
            size += len(value)
        else:
            numbers += type(value) is int
        if size > MAX_TEXT:
            break
    return tokenizer.count(texts) + numbers


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


def estimate_tokens(operation: ModelOperation, forward: Handler) -> Handler:
    """A handler that forwards a request if a target can count its tokens. Otherwise, and where the
    server turns out to have no such path, it answers with the gateway's estimate, marked by the
    header `x-modelway-estimate: tokens`, without cost."""
    language = translations.counted_language(operation.dialect, operation.path)
    assert language is not None
    assert language.token_count is not None
    write = language.token_count.write

    def handle(exchange: Exchange) -> Response:
        if exchange.model.targets:
            response = forward(exchange)
            if not _has_no_such_path(response):
                return response
        tokens = max(estimate(exchange, _REQUEST).input, 1)
        return Response(200, [*_HEADERS], write(tokens))

    return handle


def _has_no_such_path(response: Response) -> bool:
    """Whether a server answers as one that does not know the path: many that imitate an API do not
    count tokens. An answer that speaks of the model knows the path."""
    if response.status not in _UNKNOWN_PATH:
        return False
    if not isinstance(response.body, bytes):
        response.body = b"".join(response.body)
    return b"model" not in response.body.lower()

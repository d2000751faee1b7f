"""The neutral form -> messages requests."""

from __future__ import annotations

from itertools import chain
from typing import Any

from engine.translations.messages.content_writer import ContentWriter
from engine.translations.neutral import content as neutral
from engine.translations.neutral.argument_schemas import NO_ARGUMENTS, arguments_schema
from engine.translations.neutral.calls import LimitedToolWriter, ToolNames
from engine.translations.neutral.language import TargetRequest
from engine.translations.neutral.losses import Losses, encode_chat
from engine.translations.neutral.parameters import read_web_search
from engine.translations.neutral.request import (
    BuiltInTool,
    ChatRequest,
    Message,
    Tool,
    callable_tools,
    merged,
)
from engine.translations.neutral.turns import from_user_to_user, results_before_others, texts_only
from engine.translations.vendors import anthropic_models
from engine.translations.vendors.anthropic_models import Model
from engine.values.trees import Json


def write_turns(request: ChatRequest, writer: ContentWriter, model: Model, losses: Losses) -> Json:
    """The members `system` (unless empty) and `messages`."""
    hoisted, messages = _hoisted(merged(request.messages), model)
    system = texts_only([*request.system, *hoisted], losses)

    def content(turn: Message, is_continued: bool) -> Any:
        if turn.role == "system":
            return writer.content(texts_only(turn.blocks, losses))
        content_blocks = writer.content(results_before_others(turn))
        return _without_end_space(content_blocks) if is_continued else content_blocks

    turns = from_user_to_user(
        request, messages, content, losses, prefill=model.prefill, user_first=False
    )
    members: Json = {}
    if instructions := writer.content(system):
        members["system"] = instructions
    members["messages"] = turns
    return members


def _hoisted(messages: list[Message], model: Model) -> tuple[list[neutral.Block], list[Message]]:
    """The instructions that must stand above the conversation, and the turns. Between turns they
    may stand after a user's turn, and before an assistant's or at the end."""
    system: list[neutral.Block] = []
    turns: list[Message] = []
    for index, message in enumerate(messages):
        if message.role != "system" or (
            model.system_turns
            and (turns and turns[-1].role == "user")
            and (index + 1 == len(messages) or messages[index + 1].role == "assistant")
        ):
            turns.append(message)
        else:
            system += message.blocks
    return system, merged(turns) if system else turns


def _without_end_space(content: Any) -> object:
    """The content of a turn that is to be continued, which may not end with white space."""
    if isinstance(content, str):
        return content.rstrip()
    if content and content[-1]["type"] == "text":
        return [*content[:-1], {**content[-1], "text": content[-1]["text"].rstrip()}]
    return content


_MAX_NAME = 128
_THOUGHTS = ("thinking", "redacted_thinking")


def write_request(request: ChatRequest, model: str, losses: Losses) -> TargetRequest:
    names = ToolNames(_MAX_NAME)
    facts = anthropic_models.model_called(model)
    max_tokens = facts.max_tokens if request.max_tokens is None else request.max_tokens
    body: Json = {"model": model, "max_tokens": max_tokens}
    writer = ContentWriter(names, losses)
    body.update(write_turns(request, writer, facts, losses))
    answer_tool = _write_parameters(request, body, names, facts, losses)
    losses.withdraw(neutral.CACHE_MARK_FIELDS)
    marks = writer.marks + sum(isinstance(o, Tool) and o.cache != "" for o in request.tools)
    if marks > MAX_MARKS:
        limit_marks(body)
    return TargetRequest(
        encode_chat(body, request), "/messages", tool_names=names.originals, answer_tool=answer_tool
    )


def _write_parameters(
    request: ChatRequest, body: Json, names: ToolNames, model: Model, losses: Losses
) -> str:
    """Returns the name of the tool whose arguments are the answer, "" for none."""
    parameters = anthropic_models.ParameterWriter(request, model, losses)
    thinking = parameters.thinking(body["max_tokens"])
    if "budget_tokens" in thinking.get("thinking", {}) and not anthropic_models.can_think_on(
        body["messages"], _kinds_of, thoughts=_THOUGHTS, result="tool_result"
    ):
        losses.add(request.place_of("thinking"), anthropic_models.UNSENT_THOUGHTS, hint=True)
        del thinking["thinking"]
    thinks = "thinking" in thinking and thinking["thinking"]["type"] in ("enabled", "adaptive")
    tools = ToolWriter(request, model, losses, names)
    body.update(tools.write(body["messages"]))
    output, answer_tool = thinking.pop("output_config", {}), ""
    form, schema = parameters.answer_form(thinks=thinks)
    if form == "tool":
        answer_tool = tools.add_answer_tool(body)
    elif form == "format":
        output["format"] = {"type": "json_schema", "schema": schema}
    body.update(thinking)
    if output:
        body["output_config"] = output
    body.update(parameters.sampling(thinks=thinks))
    if stop := parameters.stop():
        body["stop_sequences"] = stop
    if request.user:
        body["metadata"] = anthropic_models.metadata_of(request.user)
    if request.stream:
        body["stream"] = True
    parameters.lose_unsupported()
    return answer_tool


MAX_MARKS = 4


def limit_marks(body: Json) -> None:
    """Leave the last four marks of a request, in the order in which the vendor caches what has
    them: these cover what those before them do."""
    contents = [body.get("tools"), body.get("system"), *(o["content"] for o in body["messages"])]
    lists = (content for content in contents if isinstance(content, list))
    marked = [part for part in chain.from_iterable(lists) if "cache_control" in part]
    for part in marked[:-MAX_MARKS]:
        del part["cache_control"]


_WEB_SEARCH = {"type": "web_search_20250305", "name": "web_search"}


class ToolWriter(LimitedToolWriter[Model]):
    """Models that take no schema of their answer get it as that of a tool to be called."""

    def write(self, messages: list[Json]) -> Json:
        """The members, for a conversation of these written messages."""
        declarations = map(self._tool, callable_tools(self._request))
        tools = [each for each in declarations if each is not None]
        if not tools:
            return _called_tools(messages)
        choice = self._choice() if self._request.tools else {}
        return {"tools": tools, "tool_choice": choice} if choice else {"tools": tools}

    def add_answer_tool(self, members: Json) -> str:
        """Add the tool whose arguments are the answer, and demand that it or another one is called.
        Returns its name, "" where no text is answered, since a call is demanded anyway."""
        tools = members.get("tools", [])
        tool, schema = self._answer_tool({each["name"] for each in tools})
        if schema is None:
            return ""
        may_call = tools and members.get("tool_choice", {}).get("type") != "none"
        demand: Json = {"type": "any"} if may_call else {"type": "tool", "name": tool["name"]}
        members["tools"] = [*tools, {**tool, "input_schema": schema}]
        members["tool_choice"] = {**demand, "disable_parallel_tool_use": True}
        return str(tool["name"])

    def _tool(self, tool: Tool | BuiltInTool) -> Json | None:
        if isinstance(tool, Tool):
            return self._function(tool)
        if tool.kind == "web_search":
            return self._web_search(tool)
        self._losses.add_tool(tool)
        return None

    def _function(self, tool: Tool) -> Json:
        function: Json = {"name": self._names.legal(tool.name)}
        if tool.description:
            function["description"] = tool.description
        function["input_schema"] = arguments_schema(tool) or NO_ARGUMENTS
        if (schema := anthropic_models.strict_schema(tool, self._model, self._losses)) is not None:
            function.update(input_schema=schema, strict=True)
        neutral.mark(function, tool.cache)
        return function

    def _web_search(self, tool: BuiltInTool) -> Json:
        names = ("allowed_domains", "blocked_domains", "location")
        options = read_web_search(tool).carry(self._losses, *names)
        if location := options.pop("location", None):
            options["user_location"] = {"type": "approximate", **location}
        return {**_WEB_SEARCH, **options}

    def _choice(self) -> Json:
        """Which tools may be called, and whether several at once; empty for nothing said."""
        choice, members = self._request.tool_choice, {}
        if choice is not None and choice.mode == "any" and not self._model.forced_tools:
            self._lose("tool_choice", "the model cannot be required to call a tool")
            members = {"type": "auto"}
        elif choice is not None and choice.mode == "any" and len(choice.names) == 1:
            members = {"type": "tool", "name": self._names.legal(choice.names[0])}
        elif choice is not None:
            members = {"type": choice.mode}
        if members.get("type") == "none" or self._request.parallel_calls is not False:
            return members
        return {"type": "auto", **members, "disable_parallel_tool_use": True}


def _called_tools(messages: list[Json]) -> Json:
    """The vendor demands the tools that were called; they cannot be called again."""
    tools = {
        block["name"]: {"name": block["name"], "input_schema": NO_ARGUMENTS}
        for message in messages
        for block in _blocks_of(message)
        if block["type"] == "tool_use"
    }
    return {"tools": list(tools.values()), "tool_choice": {"type": "none"}} if tools else {}


def _blocks_of(message: Json) -> list[Json]:
    content: Any = message["content"]
    return [] if isinstance(content, str) else content


def _kinds_of(message: Json) -> list[str]:
    return [block["type"] for block in _blocks_of(message)]

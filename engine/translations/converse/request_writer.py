"""The neutral form -> Converse requests. Users and models take turns, results of tools come
first, and instructions stand above the conversation. Claude's models may begin, for others a user
does (tried by pydantic-ai, pull request 6255, July 2026)."""

from __future__ import annotations

from urllib.parse import quote

from engine.translations.converse.content_writer import (
    ContentWriter,
    cache_point,
    limit_cache_points,
)
from engine.translations.converse.models import Model, ParameterWriter, model_called
from engine.translations.neutral.argument_schemas import NO_ARGUMENTS, arguments_schema
from engine.translations.neutral.calls import LimitedToolWriter, ToolNames
from engine.translations.neutral.content import CACHE_MARK_FIELDS
from engine.translations.neutral.language import TargetRequest
from engine.translations.neutral.losses import Losses, encode_chat
from engine.translations.neutral.request import ChatRequest, Message, Tool, callable_tools
from engine.translations.neutral.turns import (
    from_user_to_user,
    hoisted,
    results_before_others,
    texts_only,
)
from engine.translations.vendors.anthropic_models import ParameterWriter as AnthropicWriter
from engine.translations.vendors.anthropic_models import strict_schema
from engine.values.trees import Json


class ToolWriter(LimitedToolWriter[Model]):
    def write(self, messages: list[Json]) -> Json:
        """The value of `toolConfig` for a conversation of these written messages, empty for none.
        The vendor demands the tools that were called before; it cannot forbid a call of them."""
        choice, called = self._request.tool_choice, _called(messages)
        forbidden = choice is not None and choice.mode == "none"
        if forbidden and called and self._functions():
            self._lose("tool_choice", "calls cannot be forbidden after the first one")
        tools: list[Json] = []
        for tool in () if forbidden and not called else self._functions():
            tools.append(self._tool(tool))
            if tool.cache and "tools" in self._model.caches:
                tools.append(cache_point(tool.cache))
        if not tools:
            return {"tools": called} if called else {}
        config: Json = {"tools": tools}
        if demand := self._choice():
            config["toolChoice"] = demand
        return config

    def add_answer_tool(self, config: Json) -> str:
        """Add the tool whose arguments are the answer, and demand that it or another one is called.
        Returns its name, "" where no text is answered, since a call is demanded anyway."""
        choice, tools = self._request.tool_choice, config.get("tools", [])
        names = {each["toolSpec"]["name"] for each in tools if "toolSpec" in each}
        tool, schema = self._answer_tool(names)
        if schema is None:
            return ""
        may_call = bool(self._functions()) and (choice is None or choice.mode != "none")
        config["tools"] = [*tools, {"toolSpec": {**tool, "inputSchema": {"json": schema}}}]
        config["toolChoice"] = {"any": {}} if may_call else {"tool": {"name": tool["name"]}}
        return str(tool["name"])

    def _functions(self) -> list[Tool]:
        return [tool for tool in callable_tools(self._request) if isinstance(tool, Tool)]

    def _tool(self, tool: Tool) -> Json:
        spec: Json = {"name": self._names.legal(tool.name)}
        if tool.description.strip():
            spec["description"] = tool.description
        schema = strict_schema(tool, self._model.parameters, self._losses)
        spec["inputSchema"] = {"json": schema or arguments_schema(tool) or NO_ARGUMENTS}
        if schema is not None:
            spec["strict"] = True
        return {"toolSpec": spec}

    def _choice(self) -> Json:
        choice = self._request.tool_choice
        if choice is None or choice.mode != "any":
            return {}
        if not self._model.parameters.forced_tools:
            self._lose("tool_choice", "the model cannot be required to call a tool")
            return {}
        if len(choice.names) == 1:
            return {"tool": {"name": self._names.legal(choice.names[0])}}
        return {"any": {}}


def _called(messages: list[Json]) -> list[Json]:
    names = {
        block["toolUse"]["name"]: None
        for message in messages
        for block in message["content"]
        if "toolUse" in block
    }
    return [{"toolSpec": {"name": o, "inputSchema": {"json": NO_ARGUMENTS}}} for o in names]


def write_request(request: ChatRequest, model: str, losses: Losses) -> TargetRequest:
    """The URL names the model, as an id or an ARN, percent-encoded as the vendor's SDKs do it."""
    names, facts = ToolNames(), model_called(model)
    body = write_turns(request, ContentWriter(names, losses, facts), facts, losses)
    answer_tool, first_call = _write_parameters(request, body, names, facts, losses)
    if facts.caches:
        losses.withdraw(CACHE_MARK_FIELDS)
        contents = [body.get("toolConfig", {}).get("tools", []), body.get("system", [])]
        limit_cache_points(contents + [each["content"] for each in body["messages"]])
    method = "converse-stream" if request.stream else "converse"
    path = f"/model/{quote(model, safe='')}/{method}"
    return TargetRequest(
        encode_chat(body, request),
        path,
        tool_names=names.originals,
        answer_tool=answer_tool,
        first_call=first_call,
    )


def _write_parameters(
    request: ChatRequest, body: Json, names: ToolNames, model: Model, losses: Losses
) -> tuple[str, bool]:
    """Returns the name of the tool whose arguments are the answer ("": none), and whether only the
    first call of an answer is wanted."""
    anthropic = AnthropicWriter(request, model.parameters, losses)
    parameters = ParameterWriter(request, model, losses)
    thinks = parameters.write_thinking(body, anthropic)
    tools = ToolWriter(request, model, losses, names)
    config = tools.write(body["messages"])
    for tool in request.tools:
        if not isinstance(tool, Tool):
            losses.add_tool(tool)
    answer_tool, first_call = "", False
    form, schema = anthropic.answer_form(thinks=thinks)
    if form == "tool":
        answer_tool = tools.add_answer_tool(config)
    elif form == "format":
        parameters.write_output(body, schema)
    if config:
        body["toolConfig"] = config
        first_call = parameters.write_parallel_calls(body)
    parameters.write_sampling(body, anthropic, thinks=thinks)
    parameters.write_stop(body, anthropic.stop())
    anthropic.lose_unsupported()
    if request.user:
        losses.add(request.place_of("user"), hint=True)
    return answer_tool, first_call


def write_turns(request: ChatRequest, writer: ContentWriter, model: Model, losses: Losses) -> Json:
    system, turns = hoisted(request)
    messages = from_user_to_user(
        request,
        turns,
        lambda turn, is_continued: _content(turn, writer, is_continued=is_continued),
        losses,
        prefill=model.parameters.prefill,
        user_first=not model.claude,
    )
    for index in range(len(messages) - 1, 0, -1):
        if messages[index]["role"] == messages[index - 1]["role"]:  # one between had no content
            messages[index - 1]["content"] += messages.pop(index)["content"]
    instructions = writer.system(texts_only(system, losses))
    return (
        {"system": instructions, "messages": messages} if instructions else {"messages": messages}
    )


def _content(turn: Message, writer: ContentWriter, *, is_continued: bool) -> list[Json]:
    content = writer.turn(results_before_others(turn), turn.role)
    if is_continued and content and "text" in content[-1]:
        content[-1] = {"text": content[-1]["text"].rstrip()}  # white space is refused
    return content

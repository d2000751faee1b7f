"""The neutral form -> Converse requests. Users and models take turns, a user begins, results of
tools come first, and instructions stand above the conversation."""

from __future__ import annotations

from urllib.parse import quote

from engine.translations.anthropic_parameters import ParameterWriter as AnthropicWriter
from engine.translations.converse.content_writer import ContentWriter, limit_cache_points
from engine.translations.converse.fields import Json
from engine.translations.converse.models import Model, model_called
from engine.translations.converse.parameter_writer import ParameterWriter
from engine.translations.converse.tool_writer import ToolWriter
from engine.translations.language import TargetRequest
from engine.translations.neutral.cache_marks import CACHE_MARKS
from engine.translations.neutral.content import Block
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.names import ToolNames
from engine.translations.neutral.request import ChatRequest, Message, merged
from engine.translations.neutral.request_size import encode_chat
from engine.translations.neutral.turns import (
    from_user_to_user,
    lose_last_instructions,
    results_before_others,
    texts_only,
)
from engine.values.wildcard import Patterns

_CACHE_MARKS = Patterns(CACHE_MARKS)


def write_request(request: ChatRequest, model: str, losses: Losses) -> TargetRequest:
    """A request for a target that calls the model so; its URL names the model, as an id or an ARN,
    percent-encoded as the vendor's SDKs do it."""
    names, facts = ToolNames(), model_called(model)
    writer = ContentWriter(names, losses, facts)
    body = write_turns(request, writer, facts, losses)
    answer_tool, first_call = _write_parameters(request, body, names, facts, losses)
    if facts.caches:
        losses.withdraw(_CACHE_MARKS)
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
    """The parameters. Returns the name of the tool whose arguments are the answer, "" for none, and
    whether only the first call of an answer is wanted."""
    anthropic = AnthropicWriter(request, model.parameters, losses)
    parameters = ParameterWriter(request, model, losses)
    thinks = parameters.write_thinking(body, anthropic)
    tools = ToolWriter(request, names, model, losses)
    config = tools.write(body["messages"])
    tools.lose_others()
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
    parameters.lose_unsupported()
    return answer_tool, first_call


def write_turns(request: ChatRequest, writer: ContentWriter, model: Model, losses: Losses) -> Json:
    """The members `messages` and, unless empty, `system`."""
    system: list[Block] = list(request.system)
    turns: list[Message] = []
    for message in request.messages:
        if message.role == "system":
            system += message.blocks
        else:
            turns.append(message)
    turns = merged(turns)
    lose_last_instructions(request.messages, turns, losses)
    messages = from_user_to_user(
        turns,
        lambda turn, is_continued: _content(turn, writer, is_continued=is_continued),
        losses,
        prefill=model.parameters.prefill,
        place=request.place_of("messages"),
    )
    instructions = writer.system(texts_only(system, losses))
    return (
        {"system": instructions, "messages": messages} if instructions else {"messages": messages}
    )


def _content(turn: Message, writer: ContentWriter, *, is_continued: bool) -> list[Json]:
    content = writer.turn(results_before_others(turn), turn.role)
    if is_continued and content and "text" in content[-1]:
        content[-1] = {"text": content[-1]["text"].rstrip()}  # white space is refused
    return content

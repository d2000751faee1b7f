"""The neutral form -> chat completions requests."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from engine.translations.chat_completions.content_writer import MessageWriter
from engine.translations.neutral.calls import ToolNames
from engine.translations.neutral.content import CACHE_MARK_FIELDS, mark
from engine.translations.neutral.json_members import with_values
from engine.translations.neutral.language import TargetRequest
from engine.translations.neutral.losses import Losses, encode_chat
from engine.translations.neutral.parameters import lose_penalties
from engine.translations.neutral.request import ChatRequest, Tool
from engine.translations.vendors import openai_models, openai_schemas
from engine.translations.vendors import openai_request_fields as openai_fields
from engine.translations.vendors.openai_content import with_one_instruction
from engine.values.trees import Json

_RESPONSES_ONLY = "the model takes tools and an effort in /v1/responses only"


def write_request(request: ChatRequest, model: str, losses: Losses) -> TargetRequest:
    names = ToolNames()
    writer = MessageWriter(names, losses, model)
    marks = writer.marks
    if writer.joins:
        request = with_one_instruction(request, losses)
    body: Json = {"model": model, "messages": writer.write(request)}
    _write_tools(request, body, names, losses, marks=marks)
    if marks:
        losses.withdraw(CACHE_MARK_FIELDS)
    if (form := openai_schemas.write_format(request, losses, nested=True)) is not None:
        body["response_format"] = form
    _write_sampling(request, model, body, losses)
    if request.prefill:
        losses.add_prefill(request.prefill)
    if request.stream:
        body["stream"] = True
        if request.ask_usage:
            body["stream_options"] = {"include_usage": True}
    if openai_models.is_vendors_own(model):  # others refuse the unknown
        body |= openai_fields.write_shared(request, "responses", losses)
    return TargetRequest(
        encode_chat(body, request), "/chat/completions", tool_names=names.originals
    )


def _write_tools(
    request: ChatRequest, body: Json, names: ToolNames, losses: Losses, *, marks: bool
) -> None:
    tools: list[Any] = []
    for tool in request.tools:
        if isinstance(tool, Tool):
            function = openai_fields.write_function(tool, names.legal, losses)
            tools.append({"type": "function", "function": function})
            if marks:
                mark(tools[-1], tool.cache)
        elif tool.kind == "web_search" and openai_models.searches_in_chat(body["model"]):
            body["web_search_options"] = openai_fields.write_web_search(tool, losses, nested=True)
        elif tool.kind == "web_search":
            losses.add(tool.place, "this model does not search the web in chat completions")
        else:
            losses.add_tool(tool)
    if tools:
        body["tools"] = tools
    if not any(isinstance(tool, Tool) for tool in request.tools):
        return  # a choice without tools is an error
    if request.tool_choice is not None:
        body["tool_choice"] = openai_fields.write_tool_choice(
            request.tool_choice, names.legal, nested=True
        )
    if request.parallel_calls is not None:
        body["parallel_tool_calls"] = request.parallel_calls


def _write_sampling(request: ChatRequest, model: str, body: Json, losses: Losses) -> None:
    effort, _ = openai_fields.write_effort(request, model, losses)
    if "tools" in body and (new_effort := openai_models.effort_with_tools(model, effort)) != effort:
        if new_effort == "":
            losses.add(request.tools[0].place, _RESPONSES_ONLY)
            for name in ("tools", "tool_choice", "parallel_tool_calls"):
                body.pop(name, None)
        else:
            if request.thinking is not None:
                losses.add(request.place_of("thinking"), _RESPONSES_ONLY, hint=True)
            effort = new_effort
    request = _request_for_model(request, model, effort, losses)
    values = {
        openai_models.limit_field(model): request.max_tokens,
        **openai_fields.write_sampling(request, model, effort, losses),
        "verbosity": openai_fields.write_verbosity(request, model, losses),
        "stop": (_stops(request, model, losses) or None) if request.stop else None,
        "n": request.candidates,
        "seed": request.seed,
        "presence_penalty": request.presence_penalty,
        "frequency_penalty": request.frequency_penalty,
        "logprobs": request.logprobs or bool(request.top_logprobs) or None,
        "top_logprobs": request.top_logprobs,
        "reasoning_effort": effort,
        "user": openai_fields.write_user(request.user),
    }
    body.update(with_values(values))


def _stops(request: ChatRequest, model: str, losses: Losses) -> list[str]:
    most = openai_models.most_stops(model)
    if most is None or len(request.stop) <= most:
        return request.stop
    reason = f"the model takes {most} at most" if most else "the model takes none"
    losses.add(request.place_of("stop"), reason)
    return request.stop[:most]


def _request_for_model(
    request: ChatRequest, model: str, effort: str | None, losses: Losses
) -> ChatRequest:
    """The request without the parameters that the model does not take."""
    penalty = request.presence_penalty or request.frequency_penalty
    if penalty and not openai_models.takes_penalties(model):
        lose_penalties(request, losses)
        request = replace(request, presence_penalty=None, frequency_penalty=None)
    if (request.logprobs or request.top_logprobs) and not openai_models.samples(model, effort):
        openai_fields.lose_logprobs(request, losses)
        request = replace(request, logprobs=False, top_logprobs=None)
    return request

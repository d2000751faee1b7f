"""The neutral form -> responses requests. The upstream is never asked to store anything."""

from __future__ import annotations

from collections.abc import Callable

from engine.translations.neutral.calls import ToolNames
from engine.translations.neutral.json_members import with_values
from engine.translations.neutral.language import TargetRequest
from engine.translations.neutral.losses import Losses, encode_chat
from engine.translations.neutral.parameters import lose_penalties
from engine.translations.neutral.request import ChatRequest, Tool
from engine.translations.responses.content_writer import ItemWriter
from engine.translations.vendors import openai_request_fields as openai_fields
from engine.translations.vendors import openai_schemas
from engine.translations.vendors.openai_content import with_one_instruction
from engine.translations.vendors.openai_models import is_vendors_own, reasons, samples
from engine.values.trees import Json

_MIN_LIMIT = 16
_MAX_NAME = 128
_CANNOT = ("stop", "seed")


def write_request(request: ChatRequest, model: str, losses: Losses) -> TargetRequest:
    names = ToolNames(_MAX_NAME)
    if not is_vendors_own(model):
        request = with_one_instruction(request, losses)
    writer = ItemWriter(names, losses)
    body: Json = {"model": model}
    above = len(request.system) == 1 and bool(request.messages)  # `input` may not be empty
    if above:
        body["instructions"] = request.system[0].text
    body["input"] = writer.write(request, instructions=not above)
    if tools := _tools(request, names.legal, losses):
        body["tools"] = tools
    if request.tool_choice is not None and tools:
        body["tool_choice"] = openai_fields.write_tool_choice(request.tool_choice, names.legal)
    parameters, logprobs = _parameters(request, model, losses)
    body |= parameters
    if request.prefill:
        losses.add_prefill(request.prefill)
    if request.stream:
        body["stream"] = True
    body["store"] = False
    if include := _include(model, logprobs=logprobs):
        body["include"] = include
    body |= openai_fields.write_shared(request, "chat_completions", losses)
    return TargetRequest(encode_chat(body, request), "/responses", tool_names=names.originals)


def _include(model: str, *, logprobs: bool) -> list[str]:
    """What the answer is to have besides: the vendor's thoughts, to give them back with the next
    turn. A model that does not reason refuses that."""
    include = []
    if reasons(model):
        include.append("reasoning.encrypted_content")
    if logprobs:
        include.append("message.output_text.logprobs")
    return include


def _tools(request: ChatRequest, legal: Callable[[str], str], losses: Losses) -> list[Json]:
    """The tools; `legal` is the name that the vendor accepts for one."""
    tools: list[Json] = []
    for tool in request.tools:
        if isinstance(tool, Tool):
            function = openai_fields.write_function(tool, legal, losses)
            strict = function.get("strict", False)  # the default would change the schema
            members = {"parameters": function.get("parameters"), "strict": strict}
            tools.append({"type": "function", **function, **members})
        elif tool.kind == "web_search":
            tools.append({"type": "web_search", **openai_fields.write_web_search(tool, losses)})
        else:
            losses.add_tool(tool)
    return tools


def _parameters(request: ChatRequest, model: str, losses: Losses) -> tuple[Json, bool]:
    """The parameters, and whether log probabilities are asked for."""
    for name in _CANNOT:
        if getattr(request, name):
            losses.add(request.place_of(name))
    lose_penalties(request, losses)
    if (request.candidates or 1) > 1:
        losses.add(request.place_of("candidates"))
    limit = request.max_tokens
    if limit is not None and limit < _MIN_LIMIT:
        losses.add(request.place_of("max_tokens"), "the minimum is 16", hint=True)
        limit = _MIN_LIMIT
    reasoning = _reasoning(request, model, losses)
    effort = None if reasoning is None else reasoning.get("effort")
    logprobs = bool(request.logprobs or request.top_logprobs)
    if logprobs and not samples(model, effort):
        openai_fields.lose_logprobs(request, losses)
        logprobs = False
    members = with_values(
        {
            "max_output_tokens": limit,
            **openai_fields.write_sampling(request, model, effort, losses),
            "top_logprobs": request.top_logprobs if logprobs else None,
            "parallel_tool_calls": request.parallel_calls,
            "reasoning": reasoning,
            "text": _text(request, model, losses),
            "user": openai_fields.write_user(request.user),
        }
    )
    return members, logprobs


def _reasoning(request: ChatRequest, model: str, losses: Losses) -> Json | None:
    effort, carried = openai_fields.write_effort(request, model, losses)
    if not carried:
        return None
    reasoning: Json = {} if effort is None else {"effort": effort}
    if request.thinking is not None and request.thinking.visible and not request.thinking.off:
        reasoning["summary"] = "auto"
    return reasoning or None


def _text(request: ChatRequest, model: str, losses: Losses) -> Json | None:
    text: Json = {}
    if (form := openai_schemas.write_format(request, losses)) is not None:
        text["format"] = form
    if verbosity := openai_fields.write_verbosity(request, model, losses):
        text["verbosity"] = verbosity
    return text or None

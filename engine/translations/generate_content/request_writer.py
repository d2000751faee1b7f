"""The neutral form -> generate content requests."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import msgspec

from engine.translations.generate_content.content_writer import ContentWriter
from engine.translations.generate_content.fields import NAME
from engine.translations.generate_content.models import Model, model_called
from engine.translations.generate_content.schemas import from_json_schema
from engine.translations.language import WrittenRequest
from engine.translations.neutral.effort import budget_of, effort_of, nearest_effort
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.names import ToolNames
from engine.translations.neutral.request import ChatRequest, Tool

Json = dict[str, Any]
_MODES = {"auto": "AUTO", "any": "ANY", "none": "NONE"}


def write_request(request: ChatRequest, model: str, losses: Losses) -> WrittenRequest:
    """A request for a target that calls the model so; its URL names the model."""
    names, knowledge = ToolNames(), model_called(model)
    own = request.language == NAME
    writer = ContentWriter(names, losses, knowledge, own=own)
    system, contents = writer.write(request)
    body: Json = {"contents": contents}
    if system:
        body["systemInstruction"] = {"parts": system}
    _write_tools(request, body, names, losses, knowledge)
    if config := _config(request, losses, knowledge):
        body["generationConfig"] = config
    for name in ("user", "verbosity", "parallel_calls"):
        if getattr(request, name) not in ("", None, True):
            losses.add(request.place_of(name), hint=name == "user")
    if own:
        extra = dict(request.extra)
        for name in ("generationConfig", "generation_config"):
            if name in extra:
                body.setdefault("generationConfig", {}).update(msgspec.json.decode(extra.pop(name)))
        body.update(extra)
    method = "streamGenerateContent" if request.stream else "generateContent"
    path = f"/models/{quote(model, safe='')}:{method}"
    query = "alt=sse" if request.stream else ""
    return WrittenRequest(msgspec.json.encode(body), path, query, names.originals)


def _write_tools(
    request: ChatRequest, body: Json, names: ToolNames, losses: Losses, model: Model
) -> None:
    functions, others = [], []
    for tool in request.tools:
        if isinstance(tool, Tool):
            functions.append(_function(tool, names, model, own=request.language == NAME))
        elif tool.language == NAME:
            others.append(tool.raw)
        elif tool.kind == "web_search":
            others.append(msgspec.Raw(b'{"googleSearch":{}}'))
        else:
            losses.add(tool.place, f"the tool '{tool.name}' is run by another vendor")
    if functions:
        others.insert(0, {"functionDeclarations": functions})  # type: ignore[arg-type]
    if others:
        body["tools"] = others
    choice = request.tool_choice
    if choice is not None and functions:
        native = choice.native if request.language == NAME else ""
        config: Json = {"mode": native or _MODES[choice.mode]}
        if choice.names:
            # Only a mode that demands a call takes names (ai.google.dev, "Function calling").
            config["mode"] = "VALIDATED" if choice.mode == "auto" else config["mode"]
            config["allowedFunctionNames"] = [names.legal(name) for name in choice.names]
        body["toolConfig"] = {"functionCallingConfig": config}


def _function(tool: Tool, names: ToolNames, model: Model, *, own: bool) -> Json:
    function: Json = {"name": names.legal(tool.name), "description": tool.description}
    if own and "parameters" in tool.extra:
        return {**function, **tool.extra}
    if tool.schema is not None:
        if model.json_schema:
            function["parametersJsonSchema"] = tool.schema
        else:
            function["parameters"] = from_json_schema(tool.schema)
    return {**function, **tool.extra} if own else function


def _config(request: ChatRequest, losses: Losses, model: Model) -> Json:
    values: Json = {
        "candidateCount": request.candidates,
        "stopSequences": request.stop or None,
        "maxOutputTokens": request.max_tokens,
        "temperature": request.temperature,
        "topP": request.top_p,
        "topK": request.top_k,
        "seed": request.seed,
        "presencePenalty": request.presence_penalty,
        "frequencyPenalty": request.frequency_penalty,
        "responseLogprobs": request.logprobs or None,
        "logprobs": request.top_logprobs,
        **_output(request, model),
        "thinkingConfig": _thinking(request, losses, model),
    }
    return {name: value for name, value in values.items() if value is not None}


def _output(request: ChatRequest, model: Model) -> Json:
    output = request.output
    if output is None:
        return {}
    written: Json = {"responseMimeType": "application/json"}
    if output.schema is not None:
        if model.json_schema:
            written["responseJsonSchema"] = output.schema
        else:
            written["responseSchema"] = from_json_schema(output.schema)
    return written


def _thinking(request: ChatRequest, losses: Losses, model: Model) -> Json | None:
    thinking = request.thinking
    if thinking is None:
        return None
    config: Json = {}
    if thinking.visible is not None:
        config["includeThoughts"] = thinking.visible
    if model.levels:
        if thinking.off:
            config["thinkingLevel"] = model.levels[0]  # the least that there is
        elif thinking.effort or thinking.budget is not None:
            effort = thinking.effort or effort_of(thinking.budget or 0)
            config["thinkingLevel"] = nearest_effort(effort, model.levels)
    elif model.budgets is not None:
        least, most = model.budgets
        if thinking.off:
            config["thinkingBudget"] = 0 if model.can_stop else least
        elif thinking.effort or thinking.budget is not None:
            budget = thinking.budget or budget_of(thinking.effort)
            config["thinkingBudget"] = min(max(budget, least), most)
        elif thinking.adaptive:
            config["thinkingBudget"] = -1
    elif not thinking.off:
        losses.add(request.place_of("thinking"), "this model does not reason", hint=True)
        return None
    return config or None

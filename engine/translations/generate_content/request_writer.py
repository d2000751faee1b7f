"""The neutral form -> generate content requests."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from engine.translations.generate_content.config_writer import ConfigWriter
from engine.translations.generate_content.content_writer import ContentWriter
from engine.translations.generate_content.fields import NAME
from engine.translations.generate_content.models import model_called
from engine.translations.generate_content.tools_writer import write_tools
from engine.translations.generate_content.turns_writer import write_turns
from engine.translations.language import TargetRequest
from engine.translations.neutral.extra import add_extra
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.members import OBJECT
from engine.translations.neutral.names import ToolNames
from engine.translations.neutral.one_call import lose_one_call
from engine.translations.neutral.request import BuiltInTool, ChatRequest, Tool
from engine.translations.neutral.request_size import encode_chat

Json = dict[str, Any]

_CONFIG = ("generationConfig", "generation_config")
_COLLECTIONS = ("models/", "tunedModels/")
"""What a model's name may begin with where it is no name alone."""


def write_request(request: ChatRequest, model: str, losses: Losses) -> TargetRequest:
    """A request for a target that calls the model so; its URL names the model."""
    names, facts = ToolNames(first_letter=True), model_called(model)
    same_language, first_call = request.language == NAME, False
    writer = ContentWriter(names, losses, facts, same_language=same_language)
    body = write_turns(request, writer, facts, losses, same_language=same_language)
    if same_language:
        _write_vendor_members(request, body)
    else:
        write_tools(request, body, names, facts, losses)
        if config := ConfigWriter(request, facts, losses).config():
            body["generationConfig"] = config
        first_call = lose_one_call(request, losses)
    query = "alt=sse" if request.stream else ""
    path = _path(model, stream=request.stream)
    encoded = encode_chat(body, request)
    return TargetRequest(encoded, path, query, names.originals, first_call=first_call)


def _path(model: str, *, stream: bool) -> str:
    collection = "models/"
    if model.startswith(_COLLECTIONS):
        head, slash, model = model.partition("/")
        collection = head + slash
    method = "streamGenerateContent" if stream else "generateContent"
    return f"/{collection}{quote(model, safe='')}:{method}"


def _write_vendor_members(request: ChatRequest, body: Json) -> None:
    """The parameters of a caller of this language, as it wrote them."""
    if request.tools:
        body["tools"] = _vendor_tools(request.tools)
    extra = dict(request.extra)
    config: Json = ConfigWriter.sampling(request)
    for name in _CONFIG:
        if name in extra:
            config.update(OBJECT.decode(extra.pop(name)))
    if config:
        body["generationConfig"] = config
    add_extra(body, extra)


def _vendor_tools(tools: list[Tool | BuiltInTool]) -> list[Any]:
    functions = [_vendor_function(tool) for tool in tools if isinstance(tool, Tool)]
    others = [tool.raw for tool in tools if isinstance(tool, BuiltInTool)]
    return [{"functionDeclarations": functions}, *others] if functions else others


def _vendor_function(tool: Tool) -> Json:
    function: Json = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    if tool.schema is not None and "parameters" not in tool.extra:
        function["parametersJsonSchema"] = tool.schema
    return {**function, **tool.extra}

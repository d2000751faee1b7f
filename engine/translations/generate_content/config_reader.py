"""`generationConfig` of generate content requests -> the parameters of the neutral form.

What the neutral form says in other words is also kept as the vendor's own, for the vendor itself.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from engine.translations.generate_content.schemas import to_json_schema
from engine.translations.neutral.content import Extra
from engine.translations.neutral.members import Members
from engine.translations.neutral.request import ChatRequest, OutputFormat, Thinking

_JSON = "application/json"
_FORMAT = (
    *("responseMimeType", "responseSchema", "responseJsonSchema", "_responseJsonSchema"),
    *("thinkingConfig", "responseModalities"),
)


def read_config(members: Members, request: ChatRequest) -> None:
    """Read the member `generationConfig` of a request."""
    name = "generationConfig"
    config = members.members(name)
    if config is None:
        return
    vendor_members = _vendor_members(config)
    _read_sampling(config, request)
    _read_output(config, request)
    _read_thinking(config, request)
    _read_modalities(config)
    if vendor_members := {**vendor_members, **config.rest()}:
        request.extra[name] = Raw(msgspec.json.encode(vendor_members))


def _vendor_members(config: Members) -> Extra:
    return {name: Raw(config.peek(name)) for name in _FORMAT if name in config}


def _read_sampling(config: Members, request: ChatRequest) -> None:
    def place(name: str, neutral: str) -> str:
        request.places[neutral] = config.place_of(name)
        return name

    request.max_tokens = config.integer(place("maxOutputTokens", "max_tokens"))
    request.candidates = config.integer(place("candidateCount", "candidates"))
    request.temperature = config.raw(place("temperature", "temperature"))
    request.top_p = config.raw(place("topP", "top_p"))
    request.top_k = config.raw(place("topK", "top_k"))
    request.seed = config.raw(place("seed", "seed"))
    request.presence_penalty = config.raw(place("presencePenalty", "presence_penalty"))
    request.frequency_penalty = config.raw(place("frequencyPenalty", "frequency_penalty"))
    request.stop = config.texts(place("stopSequences", "stop")) or []
    request.logprobs = config.boolean(place("responseLogprobs", "logprobs")) or False
    request.top_logprobs = config.integer(place("logprobs", "top_logprobs"))


def _read_output(config: Members, request: ChatRequest) -> None:
    """The form of the answer. No other vendor answers with a bare word of an enumeration."""
    name = "responseMimeType"
    kind = config.text(name) or "text/plain"
    request.places["output"] = config.place_of(name)
    schema = config.raw("responseJsonSchema") or config.raw("_responseJsonSchema")
    vendor_name = "responseSchema"
    vendor_schema = config.raw(vendor_name)
    if schema is None and vendor_schema is not None:
        schema = to_json_schema(vendor_schema, config.place_of(vendor_name))
    if kind == _JSON and schema is not None:
        request.output = OutputFormat(kind="json_schema", schema=schema)
    elif kind == _JSON:
        request.output = OutputFormat(kind="json")
    elif kind != "text/plain":
        request.unread.append(config.place_of(name))


def _read_thinking(config: Members, request: ChatRequest) -> None:
    thinking = config.members("thinkingConfig")
    if thinking is None:
        return
    request.places["thinking"] = thinking.place
    budget = thinking.integer("thinkingBudget")
    level = (thinking.text("thinkingLevel") or "").lower()
    request.thinking = Thinking(
        off=budget == 0,
        effort="" if level == "thinking_level_unspecified" else level,
        budget=budget if budget is not None and budget > 0 else None,
        adaptive=budget == -1,
        visible=thinking.boolean("includeThoughts") or False,
    )
    thinking.rest()


def _read_modalities(config: Members) -> None:
    """Text is what every answer has."""
    name = "responseModalities"
    if config.peek(name).upper().replace(b" ", b"") == b'["TEXT"]':
        config.texts(name)

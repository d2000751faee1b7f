"""`generationConfig` of generate content requests -> the parameters of the neutral form.

What the neutral form says in other words is also kept as the vendor's own, for the vendor itself.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

from engine.translations.generate_content.fields import Fields
from engine.translations.generate_content.request_shapes import ConfigObject
from engine.translations.generate_content.schemas import to_json_schema
from engine.translations.neutral.members import Members
from engine.translations.neutral.objects import present, raw_members
from engine.translations.neutral.request import ChatRequest, OutputFormat, Thinking, any_object

_JSON = "application/json"
_PLACE = "generationConfig"
CONFIG_PLACES = {
    "max_tokens": f"{_PLACE}.maxOutputTokens",
    "candidates": f"{_PLACE}.candidateCount",
    "temperature": f"{_PLACE}.temperature",
    "top_p": f"{_PLACE}.topP",
    "top_k": f"{_PLACE}.topK",
    "seed": f"{_PLACE}.seed",
    "presence_penalty": f"{_PLACE}.presencePenalty",
    "frequency_penalty": f"{_PLACE}.frequencyPenalty",
    "stop": f"{_PLACE}.stopSequences",
    "logprobs": f"{_PLACE}.responseLogprobs",
    "top_logprobs": f"{_PLACE}.logprobs",
    "output": f"{_PLACE}.responseMimeType",
    "schema": f"{_PLACE}.responseJsonSchema",
    "thinking": f"{_PLACE}.thinkingConfig",
}
"""Where the parameters of the neutral form stand."""

_vendor_members = raw_members(
    response_mime_type="responseMimeType",
    response_schema="responseSchema",
    response_json_schema="responseJsonSchema",
    older_json_schema="_responseJsonSchema",
    thinking_config="thinkingConfig",
    response_modalities="responseModalities",
)
"""Members that are also kept as they came."""


def read_config(config: ConfigObject, request: ChatRequest) -> None:
    """Read the member `generationConfig` of a request."""
    _read_sampling(config, request)
    extra = config.extra
    if vendor_members := _vendor_members(config):
        form = Fields(dict(vendor_members), _PLACE, request.unread)
        _read_output(form, request)
        _read_thinking(form, request)
        _read_modalities(form)
        form.rest()
        extra = {**vendor_members, **extra}
    if extra:
        request.extra[_PLACE] = Raw(msgspec.json.encode(extra))


def _read_sampling(config: ConfigObject, request: ChatRequest) -> None:
    request.max_tokens = config.max_output_tokens
    request.candidates = config.candidate_count
    request.temperature = present(config.temperature)
    request.top_p = present(config.top_p)
    request.top_k = present(config.top_k)
    request.seed = present(config.seed)
    request.presence_penalty = present(config.presence_penalty)
    request.frequency_penalty = present(config.frequency_penalty)
    request.stop = config.stop_sequences or []
    request.logprobs = config.response_logprobs or False
    request.top_logprobs = config.logprobs


def _read_output(config: Members, request: ChatRequest) -> None:
    """The form of the answer. No other vendor answers with a bare word of an enumeration."""
    name = "responseMimeType"
    kind = config.text(name) or "text/plain"
    schema = config.raw("responseJsonSchema") or config.raw("_responseJsonSchema")
    vendor_name = "responseSchema"
    vendor_schema = config.raw(vendor_name)
    if schema is None and vendor_schema is not None:
        schema = to_json_schema(vendor_schema, config.place_of(vendor_name))
    if kind == _JSON and schema is not None:
        request.output = OutputFormat(kind="json_schema", schema=schema)
    elif kind == _JSON:
        request.output = any_object()
    elif kind != "text/plain":
        request.unread.append(config.place_of(name))


def _read_thinking(config: Members, request: ChatRequest) -> None:
    thinking = config.members("thinkingConfig")
    if thinking is None:
        return
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

"""What Bedrock's models accept in Converse, by their names: the table is in the provider's file;
and the parameters of requests within that: how much a model is to reason, how it picks its words,
where it stops (`inferenceConfig`, `outputConfig`, and the fields that only its vendor has,
`additionalModelRequestFields`).

Sources: the service model of botocore 1.44 (bedrock-runtime 2023-09-30); the vendor's pages
"Supported models and model features", "Prompt caching", "Get validated JSON results from models"
and "Extended thinking in Amazon Nova 2", November 2026; Anthropic's models:
`vendors/anthropic_models.py`.

Not verified: `reasoning_effort` of gpt-oss, and which open models other than gpt-oss, Qwen 3 and
DeepSeek V3 are held to a schema. A name that no entry covers, such as the ARN of an inference
profile, gets what most models accept.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Raw, Struct
from msgspec.structs import replace

from engine.translations.neutral import parameters
from engine.translations.neutral.calls import lose_one_call
from engine.translations.neutral.request import Thinking
from engine.translations.vendors import anthropic_models
from engine.translations.vendors.anthropic_models import ParameterWriter as AnthropicWriter
from engine.translations.vendors.model_parameters import models
from engine.values.trees import Json


class Model(Struct, frozen=True, kw_only=True):
    """What a model accepts.

    `parameters` is what is known of it in the words of Anthropic's models, and `claude` whether it
    is one of them. `thinking`: the field of its own that says how much it reasons, with `efforts`,
    the least first. `top_k`: the path of its own field. `media`: kinds of content. `caches`: the
    parts of a request that it keeps in the prompt cache.
    """

    parameters: anthropic_models.Model
    claude: bool = False
    thinking: Literal["", "reasoning_effort", "reasoningConfig"] = ""
    efforts: tuple[str, ...] = ()
    top_k: tuple[str, ...] = ()
    media: frozenset[str] = frozenset({"image", "audio", "video", "document"})
    caches: frozenset[str] = frozenset()


_PARAMETERS = anthropic_models.Model(max_tokens=0, thinking="never", prefill=False)
_OTHER = Model(parameters=_PARAMETERS)
_CLAUDE = replace(
    _OTHER,
    claude=True,
    top_k=("top_k",),
    media=frozenset({"image", "document"}),
    caches=frozenset({"tools", "system", "messages"}),
)


def model_called(name: str) -> Model:
    """What is known of a model, under its id, the id of an inference profile, or an ARN."""
    low = name.lower()
    if "claude" in low:
        return replace(_CLAUDE, parameters=anthropic_models.model_called(low))
    return models("bedrock", Model).find(low) or _OTHER


def most_tokens(name: str) -> int | None:
    return anthropic_models.most_tokens(name) if "claude" in name.lower() else None


class ParameterWriter(parameters.LimitedWriter[Model]):
    """Writes the parameters of one request, as this model accepts them."""

    def write_thinking(self, body: Json, anthropic: AnthropicWriter) -> bool:
        """Returns whether the model is one of Anthropic's, whose parameters are `anthropic`'s, and
        thinks."""
        if self._request.thinking is None:
            return False
        if not self._model.claude:
            if (effort := parameters.known_thinking(self._request, self._losses)) is not None:
                self._write_effort(body, effort)
            return False
        most = self._request.max_tokens or self._model.parameters.max_tokens
        members = anthropic.thinking(most)
        if effort := members.pop("output_config", {}).get("effort"):
            body["outputConfig"] = {"effort": effort}
        config = members.get("thinking", {})
        if "budget_tokens" in config and not anthropic_models.can_think_on(
            body["messages"], _kinds_of, thoughts=("reasoningContent",), result="toolResult"
        ):
            self._lose("thinking", anthropic_models.UNSENT_THOUGHTS, hint=True)
            return False
        if not config:
            return False
        body.setdefault("additionalModelRequestFields", {}).update(members)
        if "budget_tokens" in config:
            # It must be above the budget.
            body.setdefault("inferenceConfig", {})["maxTokens"] = most
        return bool(config["type"] != "disabled")

    def _write_effort(self, body: Json, thinking: Thinking) -> None:
        model, off = self._model, thinking.off or thinking.effort == "none"
        if not model.thinking:
            if not off:
                self._lose("thinking", "the reasoning effort of the model cannot be set", hint=True)
            return
        if off and model.thinking == "reasoningConfig":
            return  # as it does by itself
        effort = thinking.effort
        if thinking.budget is not None:
            effort = parameters.effort_of(thinking.budget)
        if not effort and not off:
            return  # as it likes
        word = model.efforts[0] if off else parameters.nearest_effort(effort, model.efforts)
        value: object = word
        if model.thinking == "reasoningConfig":
            value = {"type": "enabled", "maxReasoningEffort": word}
        body.setdefault("additionalModelRequestFields", {})[model.thinking] = value

    def write_sampling(self, body: Json, anthropic: AnthropicWriter, *, thinks: bool) -> None:
        members = (
            anthropic.sampling(thinks=thinks) if self._model.claude else self._sampling(anthropic)
        )
        limit = self._request.max_tokens
        if limit is not None and limit < 1:
            self._lose("max_tokens", "an answer has at least one token")
        elif limit is not None:
            body.setdefault("inferenceConfig", {}).setdefault("maxTokens", limit)
        for name, word in (("temperature", "temperature"), ("top_p", "topP")):
            if name in members:
                body.setdefault("inferenceConfig", {})[word] = members[name]
        if "top_k" in members:
            *path, last = self._model.top_k
            fields = body.setdefault("additionalModelRequestFields", {})
            for step in path:
                fields = fields.setdefault(step, {})
            fields[last] = members["top_k"]

    def _sampling(self, anthropic: AnthropicWriter) -> Json:
        request = self._request
        members: Json = {}
        if (temperature := anthropic.number("temperature")) is not None:
            members["temperature"] = request.temperature
            if temperature > 1:
                self._lose("temperature", "the highest temperature is 1")
                members["temperature"] = 1
        if anthropic.number("top_p") is not None:
            members["top_p"] = request.top_p
        top_k = anthropic.number("top_k")
        if top_k is not None and top_k > 0:
            if self._model.top_k:
                members["top_k"] = int(top_k)
            else:
                self._lose(
                    "top_k", "the model takes none", hint=parameters.is_wide("top_k", request.top_k)
                )
        return members

    def write_stop(self, body: Json, stop: list[str]) -> None:
        """The stop sequences. Anthropic's models are asked which one they met."""
        if not stop:
            return
        body.setdefault("inferenceConfig", {})["stopSequences"] = stop
        if self._model.claude:
            body["additionalModelResponseFieldPaths"] = ["/stop_sequence"]

    def write_output(self, body: Json, closed: Raw) -> None:
        output = self._request.output
        assert output is not None
        schema: Json = {"schema": bytes(closed).decode()}
        if output.name:
            schema["name"] = output.name
        if output.description:
            schema["description"] = output.description
        text_format = {"type": "json_schema", "structure": {"jsonSchema": schema}}
        body["outputConfig"] = {**body.get("outputConfig", {}), "textFormat": text_format}

    def write_parallel_calls(self, body: Json) -> bool:
        """Whether several tools may be called at once: only newer models of Anthropic's can be told
        so, in their own words. Returns whether the first call is the wanted one with others."""
        if not (self._model.claude and self._model.parameters.json_schema):
            return lose_one_call(self._request, self._losses)
        if self._request.parallel_calls is not False:
            return False
        choice = body["toolConfig"].get("toolChoice", {})
        kind, members = next(iter(choice.items()), ("auto", {}))
        choice = {"type": kind, **members, "disable_parallel_tool_use": True}
        body.setdefault("additionalModelRequestFields", {})["tool_choice"] = choice
        return False


def _kinds_of(message: Json) -> list[str]:
    return [next(iter(block)) for block in message["content"]]

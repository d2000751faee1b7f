"""What Anthropic's models accept, by their names, for all languages that they are called in: the
table is in the file of the provider; and the parameters of requests (thinking, sampling and the
form of the answer) within these limits.

Sources: the limits, and which models take a temperature: models.dev, 2 July 2026 (a test compares
them); efforts, adaptive thoughts and instructions between turns: the list of models in the vendor's
agent, claude-code 2.1.197; which names there are: anthropic-python 2.11.0; temperature or top_p,
prefills and demanded calls: the vendor's migration guides, November 2026.

Not verified: what models after claude-opus-4-8 other than sonnet-5 and fable-5 accept, that is,
those of the last four groups; they count as their family. A name that no entry covers gets what
most models of other vendors that speak this language accept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from functools import lru_cache
from hashlib import blake2s
from typing import Literal

from msgspec import Raw, Struct

from engine.translations.neutral import parameters
from engine.translations.neutral.argument_schemas import ALTERNATIVES, NO_ARGUMENTS
from engine.translations.neutral.json_members import OBJECT, WrongType, encode, value_of
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import OutputFormat, Thinking, Tool
from engine.translations.vendors.closed_schemas import ClosedSchema, closed_schema
from engine.translations.vendors.model_parameters import models
from engine.values.trees import Json


class Model(Struct, frozen=True, kw_only=True):
    """What a model accepts.

    `max_tokens` is the most that one answer may have. `thinking`: "never", with a "budget" of
    tokens, "both" (a budget or as much as it likes), only "adaptive", or "always" adaptive and
    never off. `efforts` are the values of `output_config.effort`.

    `sampling`: temperature and top_p together ("both"), "one" of them, or "none".
    `json_schema`: answers can be held to a schema. `system_turns`: instructions may stand between
    turns. `prefill`: it continues an assistant's turn at the end. `forced_tools`: a call can be
    demanded of it.
    """

    max_tokens: int
    thinking: Literal["never", "budget", "both", "adaptive", "always"] = "budget"
    efforts: tuple[str, ...] = ()
    sampling: Literal["both", "one", "none"] = "both"
    json_schema: bool = False
    system_turns: bool = False
    prefill: bool = True
    forced_tools: bool = True


_UNKNOWN = Model(max_tokens=8192)


@lru_cache(maxsize=1000)  # names of models are short (`SelectModel`)
def model_called(name: str) -> Model:
    return models("anthropic", Model).find(name.lower().replace(".", "-")) or _UNKNOWN


def most_tokens(name: str) -> int | None:
    model = model_called(name)
    return None if model is _UNKNOWN else model.max_tokens


MIN_BUDGET = 1024


UNSENT_THOUGHTS = "the thoughts before the last tool calls were not sent back"
"""Why a model does not think where it cannot (`can_think_on`)."""

_DEFAULT_EFFORT = "high"
_MIN_TOP_P_WITH_THOUGHTS = 0.95
_OPAQUE = re.compile(r"(?=.*[a-zA-Z])[a-zA-Z0-9_-]{1,256}")


_OBJECT = Raw(b'"object"')
_NO_FORM: tuple[Literal[""], Raw] = "", Raw()
_REASONS = {
    "$ref": "a schema cannot refer to itself, nor to what it does not define",
    "type": "each schema needs a type",
    "allOf": "these schemas cannot be joined",
}
_NO_ARGUMENTS = Raw(encode(NO_ARGUMENTS))


class ParameterWriter(parameters.LimitedWriter[Model]):
    """Writes the parameters of one request within the limits of a model."""

    def thinking(self, max_tokens: int) -> Json:
        """The members `thinking` and `output_config.effort` for a caller of another language."""
        thinking, model = parameters.known_thinking(self._request, self._losses), self._model
        if thinking is None:
            return {}
        if thinking.off or thinking.effort == "none":
            return self._thinking_off()
        if model.thinking == "never":
            self._lose("thinking", "the model does not think", hint=True)
            return {}
        if model.thinking == "budget" or (model.thinking == "both" and thinking.budget):
            config = self._budget(thinking, max_tokens)
        else:
            config = {"thinking": {"type": "adaptive"}}
            effort = thinking.effort
            if thinking.budget is not None:
                effort = parameters.effort_of(thinking.budget)
            if effort:
                config["output_config"] = {
                    "effort": parameters.nearest_effort(effort, model.efforts)
                }
        choice = self._request.tool_choice
        if config and self._request.tools and choice is not None and choice.mode == "any":
            reason = "the model does not think if a tool call is required"
            self._lose("thinking", reason, hint="output_config" in config)
            del config["thinking"]
        elif config and (thinking.visible is False or (thinking.visible and model.efforts)):
            config["thinking"]["display"] = "summarized" if thinking.visible else "omitted"
        return config

    def _thinking_off(self) -> Json:
        if self._model.thinking == "never":
            return {}
        if self._model.thinking == "always":
            return {"output_config": {"effort": self._model.efforts[0]}}
        return {"thinking": {"type": "disabled"}}

    def _budget(self, thinking: Thinking, max_tokens: int) -> Json:
        """At most half of `max_tokens` if the caller gave an effort instead of a number."""
        if thinking.budget is not None:
            budget = min(max(thinking.budget, MIN_BUDGET), max_tokens - 1)
        else:
            budget = min(parameters.budget_of(thinking.effort or _DEFAULT_EFFORT), max_tokens // 2)
            budget = max(budget, MIN_BUDGET)
        if not MIN_BUDGET <= budget < max_tokens:
            reason = f"{max_tokens} tokens leave no room for thoughts of {MIN_BUDGET}"
            self._lose("thinking", reason, hint=True)
            return {}
        return {"thinking": {"type": "enabled", "budget_tokens": budget}}

    def sampling(self, *, thinks: bool) -> Json:
        """Temperature, top_p and top_k, without values that equal the default."""
        members: Json = {}
        temperature = self.number("temperature")
        top_p, top_k = self.number("top_p"), self.number("top_k")
        if temperature is not None and temperature != 1:
            self._sample(members, "temperature", thinks=thinks)
            if members and temperature > 1:
                self._lose("temperature", "the highest temperature is 1")
                members["temperature"] = 1
        if top_p is not None and top_p < 1:
            if members and self._model.sampling == "one":
                self._lose("top_p", "the model takes a temperature or top_p, not both")
            else:
                low = top_p < _MIN_TOP_P_WITH_THOUGHTS
                self._sample(members, "top_p", thinks=thinks and low)
        if top_k is not None and top_k > 0:
            self._sample(members, "top_k", thinks=thinks)
            if "top_k" in members:  # some clients write 40.0
                members["top_k"] = int(top_k)
        return members

    def _sample(self, members: Json, name: str, *, thinks: bool) -> None:
        hint = name != "temperature" and parameters.is_wide(name, getattr(self._request, name))
        if self._model.sampling == "none":
            self._lose(name, "the model takes none", hint=hint)
        elif thinks:
            self._lose(name, "a model that thinks takes none", hint=hint)
        else:
            members[name] = getattr(self._request, name)

    def number(self, field: str) -> float | None:
        """The value of a field, None for none. Raises WrongType."""
        raw: Raw | None = getattr(self._request, field)
        if raw is None:
            return None
        value = parameters.number(raw)
        if value is None:
            raise WrongType(self._request.place_of(field), "a number")
        return value

    def answer_form(self, *, thinks: bool) -> tuple[Literal["", "format", "tool"], Raw]:
        """How a schema of the answer is enforced: by `output_config.format`, by a tool that the
        model must call (impossible while it thinks), or "" for not at all; and the schema."""
        output = self._request.output
        if output is None:
            return _NO_FORM
        if output.schema is None:
            self._lose("output", "the model returns JSON only for a schema")
        elif (closed := self._closed(output)) is not None:
            return self._closed_form(closed)
        elif thinks:
            self._lose("output", "the model supports an output format only without thinking")
        elif not self._model.forced_tools:
            self._lose("output", "the model supports JSON output only with a schema")
        elif (value_of(OBJECT, output.schema) or {}).get("type") != _OBJECT:
            self._lose("output", "the model supports only schemas of type object")
        else:
            return "tool", output.schema
        return _NO_FORM

    def _closed(self, output: OutputFormat) -> ClosedSchema | None:
        """The schema to which the model can be held; None for an object of any members."""
        if not self._model.json_schema or output.kind != "json_schema" or output.schema is None:
            return None
        closed = closed_schema(output.schema, self._request.place_of("schema"))
        return None if closed.is_any_object else closed

    def _closed_form(self, closed: ClosedSchema) -> tuple[Literal["", "format"], Raw]:
        place = self._request.place_of("schema")
        if closed.refused:
            self._losses.add(f"{place}.{closed.refused}", _REASONS[closed.refused])
            return _NO_FORM
        for keyword in closed.changed:
            self._losses.add(
                f"{place}.{keyword}", "the model returns only the members that the schema names"
            )
        _lose_moved(closed, place, self._losses)
        return "format", closed.schema

    def stop(self) -> list[str]:
        """The stop sequences; the vendor refuses white space."""
        stop = [sequence for sequence in self._request.stop if sequence.strip()]
        if len(stop) < len(self._request.stop):
            self._lose("stop", "a stop sequence of white space is refused")
        return stop

    def lose_unsupported(self) -> None:
        request = self._request
        if (request.candidates or 1) > 1:
            self._lose("candidates", "the model gives one answer")
        if request.logprobs:
            self._lose("logprobs")
        if request.seed is not None:
            self._lose("seed")
        if request.verbosity not in ("", "medium"):
            self._lose("verbosity")
        for name in ("presence_penalty", "frequency_penalty"):
            if self.number(name):
                self._lose(name)


def can_think_on(
    messages: list[Json],
    kinds_of: Callable[[Json], list[str]],
    *,
    thoughts: Container[str],
    result: str,
) -> bool:
    """Whether thoughts on a budget are accepted: in the middle of a round of tool calls, the turn
    that called them must begin with its thoughts. `kinds_of` are the kinds of the blocks of a
    written message, among them those of `thoughts` and of a `result`."""
    if len(messages) < 2 or messages[-2]["role"] != "assistant":
        return True
    if result not in kinds_of(messages[-1]):
        return True
    kinds = kinds_of(messages[-2])
    return bool(kinds) and kinds[0] in thoughts


def _lose_moved(closed: ClosedSchema, place: str, losses: Losses) -> None:
    """Add the keywords of a schema at `place` that the model only reads to the losses."""
    for keyword in closed.moved:
        losses.add(f"{place}.{keyword}", "it is moved into the description", hint=True)


def strict_schema(tool: Tool, model: Model, losses: Losses) -> Raw | None:
    """The schema of a strict tool as the model is held to it; None where it is not."""
    if not tool.strict:
        return None
    if model.json_schema:
        closed = closed_schema(tool.schema or _NO_ARGUMENTS, tool.schema_place)
        at_top = value_of(OBJECT, closed.schema) or {}
        if not closed.refused and not closed.changed and ALTERNATIVES.isdisjoint(at_top):
            _lose_moved(closed, tool.schema_place, losses)
            return closed.schema
    losses.add(tool.strict_place, "arguments are not checked", hint=True)
    return None


def metadata_of(user: str) -> Json:
    """Hashed unless opaque: the vendor forbids e-mail addresses and telephone numbers."""
    if not _OPAQUE.fullmatch(user):
        user = f"user_{blake2s(user.encode(), digest_size=16).hexdigest()}"
    return {"user_id": user}

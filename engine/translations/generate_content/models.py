"""What Gemini's models accept, by their names (the tables are in the file of the provider), and the
parameters of a request within that (`generationConfig`).

Sources: limits of answers, and which models think: models.dev, 2 July 2026 (a test compares them);
budgets and levels of thinking, ids and signatures of calls: the vendor's pages "Thinking",
"Thought signatures" and "Function calling", November 2026; penalties, links and JSON Schema:
vendors' answers to requests, as gateways report them.

Not verified: that models whose names are newer than this table are like Gemini 3.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import quote

from msgspec import Struct

from engine.translations.generate_content.subset_writer import SubsetWriter
from engine.translations.neutral import parameters
from engine.translations.neutral.json_members import with_values
from engine.translations.neutral.request import Thinking
from engine.translations.vendors import model_parameters
from engine.values.trees import Json


class Model(Struct, frozen=True, kw_only=True):
    """What a model accepts.

    `budgets` are the least and the most tokens of thinking (None: it has no budget), `can_stop`:
    thinking can be switched off, `levels` the words of `thinkingLevel` in lower case, the least
    first. `json_schema`: JSON Schema for tools and answers, else only the subset of OpenAPI 3.0.
    `links`: media by a public URL. `prefill`: an assistant's turn may come last. `penalties`:
    presence and frequency penalty. `generation_3`: calls have ids and signatures, a call without a
    signature is refused, results hold media, an image has its own resolution, and tools go
    together with a format of the answer and with the tools that the vendor runs.
    """

    budgets: tuple[int, int] | None = None
    can_stop: bool = True
    levels: tuple[str, ...] = ()
    json_schema: bool = True
    links: bool = True
    prefill: bool = False
    penalties: bool = True
    generation_3: bool = False


_COLLECTIONS = ("models/", "tunedModels/")
"""What a model's name may begin with where it is no name alone."""


def full_name(model: str) -> str:
    """The name of a model as the vendor writes it: `models/NAME`."""
    return model if model.startswith(_COLLECTIONS) else f"models/{model}"


@lru_cache(maxsize=1000)  # names of models are short (`SelectModel`)
def model_called(name: str) -> Model:
    """What is known of a model; a name that no entry covers counts as one of today's."""
    model: Model | None = model_parameters.models("gemini", Model).find(name.lower())
    assert model is not None  # `*` is one of the names
    return model


@lru_cache(maxsize=1000)
def path_of(model: str, method: str) -> str:
    """The path of a method of a model."""
    collection, _, name = full_name(model).partition("/")
    return f"/{collection}/{quote(name, safe='')}:{method}"


def most_tokens(name: str) -> int | None:
    limit: int | None = model_parameters.parameters("gemini")["limit"].find(name.lower())
    return limit


_MAX_STOPS = 5


class ParameterWriter(parameters.LimitedWriter[Model]):
    """Writes the parameters of one request, as the model accepts them."""

    def config(self) -> Json:
        """`generationConfig`, empty for the vendor's defaults."""
        config = {**self._sampling(), **self._output()}
        if thinking := self._thinking():
            config["thinkingConfig"] = thinking
        if len(self._request.stop) > _MAX_STOPS:
            self._lose("stop", f"the upstream takes at most {_MAX_STOPS}")
            config["stopSequences"] = self._request.stop[:_MAX_STOPS]
        if not self._model.penalties:  # even one of zero is refused
            parameters.lose_penalties(self._request, self._losses)
            config.pop("presencePenalty", None)
            config.pop("frequencyPenalty", None)
        if self._request.user:
            self._lose("user", hint=True)
        if self._request.verbosity not in ("", "medium"):
            self._lose("verbosity")
        return config

    def _sampling(self) -> Json:
        """The parameters that have one meaning in all languages."""
        request = self._request
        return with_values(
            {
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
            }
        )

    def _output(self) -> Json:
        if (output := self._request.output) is None:
            return {}
        if self._request.tools and not self._model.generation_3:
            self._lose("output", "the model supports no output format together with tools")
            return {}
        config: Json = {"responseMimeType": "application/json"}
        if output.schema is not None and output.kind == "json_schema":
            if self._model.json_schema:
                config["responseJsonSchema"] = output.schema
            else:
                place, size = self._request.place_of("schema"), self._request.size
                config["responseSchema"] = SubsetWriter(size).write(output.schema, place)
        return config

    def _thinking(self) -> Json:
        thinking, model = parameters.known_thinking(self._request, self._losses), self._model
        if thinking is None:
            return {}
        off = thinking.off or thinking.effort == "none"
        if not model.levels and model.budgets is None:
            if not off:
                self._lose("thinking", parameters.NO_REASONING, hint=True)
            return {}
        config = (self._level if model.levels else self._budget)(thinking, off=off)
        if thinking.visible and not off:
            config["includeThoughts"] = True
        return config

    def _level(self, thinking: Thinking, *, off: bool) -> Json:
        levels = self._model.levels
        if off:
            self._lose("thinking", "this model always reasons", hint=True)
            return {"thinkingLevel": levels[0].upper()}
        effort = thinking.effort
        if thinking.budget is not None:
            effort = effort or parameters.effort_of(thinking.budget)
        return (
            {"thinkingLevel": parameters.nearest_effort(effort, levels).upper()} if effort else {}
        )

    def _budget(self, thinking: Thinking, *, off: bool) -> Json:
        budgets = self._model.budgets
        assert budgets is not None
        least, most = budgets
        if off:
            if not self._model.can_stop:
                self._lose("thinking", "this model always reasons", hint=True)
            return {"thinkingBudget": 0 if self._model.can_stop else least}
        budget = thinking.budget
        if budget is None and thinking.effort:
            budget = parameters.budget_of(thinking.effort)
        if budget is not None:
            return {"thinkingBudget": min(max(budget, least), most)}
        return {"thinkingBudget": -1} if thinking.adaptive else {}

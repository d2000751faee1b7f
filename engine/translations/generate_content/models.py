"""What Gemini's models accept, by their names: the tables are in the file of the provider.

Sources: limits of answers, and which models think: models.dev, 2 July 2026 (a test compares them);
budgets and levels of thinking, ids and signatures of calls: the vendor's pages "Thinking",
"Thought signatures" and "Function calling", November 2026; penalties, links and JSON Schema:
vendors' answers to requests, as gateways report them.

Not verified: that models whose names are newer than this table are like Gemini 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

from engine.translations.model_parameters import models, parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
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
    model: Model | None = models("gemini", Model).find(name.lower())
    assert model is not None  # `*` is one of the names
    return model


@lru_cache(maxsize=1000)
def path_of(model: str, method: str) -> str:
    """The path of a method of a model."""
    collection, _, name = full_name(model).partition("/")
    return f"/{collection}/{quote(name, safe='')}:{method}"


def most_tokens(name: str) -> int | None:
    """The most tokens that a model can answer with, None where that is not known."""
    limit: int | None = parameters("gemini")["limit"].find(name.lower())
    return limit

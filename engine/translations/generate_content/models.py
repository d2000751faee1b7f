"""What Gemini's models accept, by their names.

Sources: limits of answers, and which models think: models.dev, 2 July 2026 (a test compares them);
budgets and levels of thinking, ids and signatures of calls: the vendor's pages "Thinking",
"Thought signatures" and "Function calling", November 2026; penalties, links and JSON Schema:
vendors' answers to requests, as gateways report them.

Not verified: that models whose names are newer than this table are like Gemini 3.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.values.wildcard import ByName


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


_OLD = Model(json_schema=False, links=False, prefill=True)
_FLASH_2_5 = Model(budgets=(0, 24_576))


def _generation_3(*levels: str) -> Model:
    return Model(can_stop=False, levels=levels, penalties=False, generation_3=True)


_GEMINI_3 = _generation_3("minimal", "low", "medium", "high")

_MODELS = ByName(
    {
        "gemini-pro": _OLD,
        "gemini-pro-vision": _OLD,
        "*gemini-1*": _OLD,
        "*gemini-2.0*": _OLD,
        "*gemini-2.5-pro*": Model(budgets=(128, 32_768), can_stop=False, penalties=False),
        "*gemini-2.5-flash*": _FLASH_2_5,
        "*gemini-2.5-flash-lite*": Model(budgets=(512, 24_576)),
        "*gemini-3*": _GEMINI_3,
        "*gemini-3-pro*": _generation_3("low", "high"),
        "*gemini-3.1-pro*": _generation_3("low", "medium", "high"),
        "*gemini-pro-latest*": _generation_3("low", "medium", "high"),
        "*gemma*": Model(),
    }
)


def model_called(name: str) -> Model:
    """What is known of a model; a name that no entry covers counts as one of today's."""
    return _MODELS.find(name.lower()) or _GEMINI_3


_MOST_TOKENS = ByName[int](
    {
        **dict.fromkeys(("gemini-pro", "gemini-pro-vision", "*gemini-1*", "*gemini-2.0*"), 8192),
        **dict.fromkeys(("*gemini-2.5*", "*gemini-3*"), 65_536),
    }
)


def most_tokens(name: str) -> int | None:
    """The most tokens that a model can answer with, None where that is not known."""
    return _MOST_TOKENS.find(name.lower())

"""What Anthropic's models accept, by their names: the table is in the file of the provider.

Sources: the limits, and which models take a temperature: models.dev, 2 July 2026 (a test compares
them); efforts, adaptive thoughts and instructions between turns: the list of models in the vendor's
agent, claude-code 2.1.197; which names there are: anthropic-python 2.11.0; temperature or top_p,
prefills and demanded calls: the vendor's migration guides, November 2026.

Not verified: what models after claude-opus-4-8 other than sonnet-5 and fable-5 accept, that is,
those of the last four groups; they count as their family. A name that no entry covers gets what
most models of other vendors that speak this language accept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from engine.translations.model_parameters import models


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
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
    """The capabilities of a model, by its name at a vendor or cloud."""
    return models("anthropic", Model).find(name.lower().replace(".", "-")) or _UNKNOWN


def most_tokens(name: str) -> int | None:
    """The token limit of a model's answers, None if it is unknown."""
    model = model_called(name)
    return None if model is _UNKNOWN else model.max_tokens


SMALLEST_BUDGET = 1024

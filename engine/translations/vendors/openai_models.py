"""What OpenAI's models accept, by their names. Other vendors' models take what most accept.

Parameters are in the file of the provider (`model_parameters.py`), with their sources; which names
there are: openai-python 3.52.0. A test compares them with models.dev, 2 July 2026. Not verified:
the 16,384 tokens of gpt-5-chat, for which models.dev has 128,000.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from engine.translations.neutral import parameters
from engine.translations.neutral.request import Thinking
from engine.translations.vendors import model_parameters
from engine.values.wildcard import Patterns

_VENDORS_OWN = Patterns(
    (
        *("gpt-3*", "gpt-4*", "gpt-5*", "gpt-6*", "gpt-daybreak-*", "gpt-rosalind-*"),
        *("gpt-audio*", "chatgpt-*", "o1*", "o3*", "o4*", "codex-*"),
    )
)


def searches_in_chat(model: str) -> bool:
    """Of OpenAI's models, only those with "search" in their name search in chats."""
    return "search" in model or not _VENDORS_OWN.match(model)


def is_vendors_own(model: str) -> bool:
    """Whether this is the name of a model of OpenAI's, also behind that of a vendor (`openai/`)."""
    return _VENDORS_OWN.match(model.rpartition("/")[2])


def most_tokens(model: str) -> int | None:
    limit: int | None = _takes("limit", model)
    return limit


@lru_cache(maxsize=1000)  # names of models are short (`SelectModel`)
def _takes(parameter: str, model: str) -> Any:
    return model_parameters.parameters("openai")[parameter].find(model)


def limit_field(model: str) -> str:
    """The field that limits the answer: the older one unless the model refuses it."""
    field: str | None = _takes("max_tokens", model)
    return field or "max_tokens"


def reasons(model: str) -> bool:
    return bool(_takes("reasoning_effort", model))


def samples(model: str, effort: str | None) -> bool:
    """Whether it takes a temperature, top_p and log probabilities with this effort."""
    takes = _takes("sampling", model)
    if takes in (None, "always"):
        return True
    if effort is None:
        return bool(takes == "unless_effort")
    return effort == "none" and bool(takes != "never")


def effort_with_tools(model: str, effort: str | None) -> str | None:
    """The effort with which the model takes functions in chat completions: newer ones that reason
    take them in responses only: "" if no effort lets it take them."""
    takes = _takes("chat_tools", model)
    if takes in (None, "always"):
        return effort
    return {"effort_none": "none", "never": ""}.get(takes, "none" if effort == "none" else None)


def takes_penalties(model: str) -> bool:
    return bool(_takes("penalties", model) != "never")


def most_stops(model: str) -> int | None:
    """The most stop sequences that the model takes, None where that is not known."""
    most: int | None = _takes("stop", model)
    return most


def takes_verbosity(model: str) -> bool:
    """Whether the model takes another verbosity than "medium"."""
    return _takes("verbosity", model) is None


def reasoning_effort(thinking: Thinking | None, model: str) -> tuple[str | None, str]:
    """The effort for a model (None: leave it out), and the reason why the request cannot be
    fulfilled, "" where it can. An effort that the model does not have becomes the next lower one; a
    word that is not known is left to the vendors of other models."""
    if thinking is None:
        return None, ""
    efforts: tuple[str, ...] | None = _takes("reasoning_effort", model)
    if efforts == ():
        return None, "" if thinking.off else parameters.NO_REASONING
    if thinking.off:
        return (None if efforts is None else efforts[0]), ""
    effort = thinking.effort
    if not effort:
        if thinking.budget is None:
            return None, ""  # as the model likes
        effort = parameters.effort_of(thinking.budget)
    elif efforts is None or effort in efforts:
        return effort, ""  # as it is, or as another vendor knows it
    elif effort not in parameters.EFFORTS:
        return None, parameters.unknown_effort(effort)
    words = tuple(each for each in efforts or ("low", "medium", "high") if each != "none")
    return parameters.nearest_effort(effort, words), ""

"""What Anthropic's models accept, by their names.

Sources: the limits, and which models take a temperature: models.dev, 2 July 2026 (a test compares
them); efforts, adaptive thoughts and instructions between turns: the list of models in the vendor's
agent, claude-code 2.1.197; which names there are: anthropic-python 2.11.0; temperature or top_p,
prefills and demanded calls: the vendor's migration guides, November 2026.

Not verified: what models after claude-opus-4-8 other than sonnet-5 and fable-5 accept, that is,
those of the last four groups; they count as their family. A name that no entry covers gets what
most models of other vendors that speak this language accept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from engine.values.wildcard import ByName

_ALL_EFFORTS = ("low", "medium", "high", "xhigh", "max")


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
_CLAUDE_3 = Model(max_tokens=4096, thinking="never")
_OPUS_4 = Model(max_tokens=32_000)
_SONNET_4 = Model(max_tokens=64_000)
_CLAUDE_4_5 = Model(max_tokens=64_000, sampling="one", json_schema=True)
_SONNET_4_6 = replace(
    _CLAUDE_4_5, thinking="both", efforts=("low", "medium", "high", "max"), prefill=False
)
_OPUS_4_6 = replace(_SONNET_4_6, max_tokens=128_000)
_OPUS_4_7 = replace(_OPUS_4_6, thinking="adaptive", efforts=_ALL_EFFORTS, sampling="none")
_CLAUDE_5 = replace(_OPUS_4_7, system_turns=True)
_FABLE_5 = replace(_CLAUDE_5, thinking="always")
_FABLE_5_1 = replace(_FABLE_5, forced_tools=False)

_MODELS = ByName(
    {
        "*": _UNKNOWN,
        "*claude*": _CLAUDE_5,
        "*claude-haiku-*": replace(_CLAUDE_5, max_tokens=64_000),
        "*claude-3-*": _CLAUDE_3,
        "*claude-3-5-*": replace(_CLAUDE_3, max_tokens=8192),
        "*claude-3-7-*": _SONNET_4,
        "*claude-opus-4*": _OPUS_4,
        "*claude-4-opus*": _OPUS_4,
        "*claude-opus-4-1*": replace(_OPUS_4, sampling="one"),
        "*claude-sonnet-4*": _SONNET_4,
        "*claude-4-sonnet*": _SONNET_4,
        "*claude-opus-4-5*": _CLAUDE_4_5,
        "*claude-sonnet-4-5*": _CLAUDE_4_5,
        "*claude-haiku-4-5*": _CLAUDE_4_5,
        "*claude-sonnet-4-6*": _SONNET_4_6,
        "*claude-opus-4-6*": _OPUS_4_6,
        "*claude-opus-4-7*": _OPUS_4_7,
        "*claude-opus-4-8*": _CLAUDE_5,
        "*claude-opus-5-5*": _FABLE_5_1,
        "*claude-fable-*": _FABLE_5,
        "*claude-fable-5-*": _FABLE_5_1,
        "*claude-mythos-*": _FABLE_5,
        "*claude-mythos-5-*": _FABLE_5_1,
        "*claude-mythos-preview*": replace(_FABLE_5, system_turns=False),
    }
)


def model_called(name: str) -> Model:
    """The capabilities of a model, by its name at a vendor or cloud."""
    return _MODELS.find(name.lower().replace(".", "-")) or _UNKNOWN


def most_tokens(name: str) -> int | None:
    """The token limit of a model's answers, None if it is unknown."""
    model = model_called(name)
    return None if model is _UNKNOWN else model.max_tokens


SMALLEST_BUDGET = 1024

"""What Gemini's models accept, by their names (ai.google.dev, "Thinking", "Function calling")."""

from __future__ import annotations

from dataclasses import dataclass

from engine.values.wildcard import ByName


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What a model accepts.

    `budgets` are the least and the most tokens of thinking (None: it has no budget), `can_stop`:
    thinking can be switched off, `levels` the words of `thinkingLevel`. `json_schema`: JSON Schema
    for tools and answers, else only the subset of OpenAPI 3.0. `call_ids`: calls have ids.
    `signs_calls`: a call without its signature is refused.
    """

    budgets: tuple[int, int] | None = None
    can_stop: bool = True
    levels: tuple[str, ...] = ()
    json_schema: bool = True
    call_ids: bool = False
    signs_calls: bool = False


_ALL_LEVELS = ("minimal", "low", "medium", "high")
_OLD = Model(json_schema=False)
_FLASH_2_5 = Model(budgets=(0, 24_576))
_GEMINI_3 = Model(can_stop=False, levels=_ALL_LEVELS, call_ids=True, signs_calls=True)
_PRO_3 = Model(can_stop=False, levels=("low", "high"), call_ids=True, signs_calls=True)

_MODELS = ByName(
    {
        "*gemini-1*": _OLD,
        "*gemini-2.0*": _OLD,
        "*gemini-pro*": _OLD,
        "*gemini-2.5-pro*": Model(budgets=(128, 32_768), can_stop=False),
        "*gemini-2.5-flash*": _FLASH_2_5,
        "*gemini-2.5-flash-lite*": Model(budgets=(512, 24_576)),
        "*gemini-3*": _GEMINI_3,
        "*gemini-3-pro*": _PRO_3,
        "*gemini-3.1-pro*": Model(
            can_stop=False, levels=("low", "medium", "high"), call_ids=True, signs_calls=True
        ),
        "*gemma*": Model(),
    }
)


def model_called(name: str) -> Model:
    """What is known of a model; a name that no entry covers counts as one of today's."""
    return _MODELS.find(name.lower()) or _GEMINI_3

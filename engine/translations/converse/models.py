"""What Bedrock's models accept in Converse, by their names: the table is in the provider's file.

Sources: the service model of botocore 1.44 (bedrock-runtime 2023-09-30); the vendor's pages
"Supported models and model features", "Prompt caching", "Get validated JSON results from models"
and "Extended thinking in Amazon Nova 2", November 2026; Anthropic's models: `anthropic_models.py`.

Not verified: `reasoning_effort` of gpt-oss, and which open models other than gpt-oss, Qwen 3 and
DeepSeek V3 are held to a schema. A name that no entry covers, such as the ARN of an inference
profile, gets what most models accept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from engine.translations import anthropic_models
from engine.translations.model_parameters import models

_ALL_MEDIA = frozenset({"image", "audio", "video", "document"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
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
    media: frozenset[str] = _ALL_MEDIA
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
    """The most tokens that a model can answer with, None where that is not known."""
    return anthropic_models.most_tokens(name) if "claude" in name.lower() else None

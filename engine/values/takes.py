"""What the requests of an operation can say that quotas and usage depend on."""

from __future__ import annotations

from dataclasses import dataclass

OUTPUT_LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens")
"""Members of a JSON body that bound how many tokens the answer has."""

GENERATION = ("generationConfig", "generation_config")
"""Members that hold such bounds in Gemini's bodies."""


@dataclass(frozen=True, slots=True)
class Takes:
    """What the requests of an operation can say, read from its document at start-up.

    `usage_option`: `stream_options.include_usage`. `output`: the answer is counted in tokens.
    `speech`: `input` is read aloud. `images`: `n` images are drawn. `free`: nothing is used.
    """

    usage_option: bool = False
    output: bool = False
    speech: bool = False
    images: bool = False
    free: bool = False

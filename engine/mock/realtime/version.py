"""The two generations of the protocol: what their sessions hold, and how their events are called.

The events are the same in all but name, and a beta session is flat where the newer one has an
object. Sources: the vendor's document (schemas RealtimeSessionCreateRequestGA and RealtimeSession).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.mock.realtime.shapes import ANY

Event = dict[str, Any]

_TEXT_OR_AUDIO = [frozenset({"text", "audio"})]
_LIMIT = (int, frozenset({"inf"}))
_TRACING = (
    None,
    frozenset({"auto"}),
    {"workflow_name": str, "group_id": str, "metadata": ANY},
)
_TURN_DETECTION = (
    None,
    {
        "type*": frozenset({"server_vad"}),
        "threshold": float,
        "prefix_padding_ms": int,
        "silence_duration_ms": int,
        "create_response": bool,
        "interrupt_response": bool,
        "idle_timeout_ms": (int, None),
    },
    {
        "type*": frozenset({"semantic_vad"}),
        "eagerness": frozenset({"low", "medium", "high", "auto"}),
        "create_response": bool,
        "interrupt_response": bool,
    },
)
_NOISE_REDUCTION = (None, {"type*": frozenset({"near_field", "far_field"})})
_TRANSCRIPTION = (None, {"model": str, "language": str, "prompt": str})
_TOOL = {"type": frozenset({"function"}), "name": str, "description": str, "parameters": ANY}
_CHOICE = (
    frozenset({"none", "auto", "required"}),
    {"type*": frozenset({"function"}), "name*": str},
)
_FORMAT = (
    {"type*": frozenset({"audio/pcm"}), "rate": 24000},
    {"type*": frozenset({"audio/pcmu", "audio/pcma"})},
)
_FLAT_FORMAT = frozenset({"pcm16", "g711_ulaw", "g711_alaw"})
_OUTPUT = {"format": _FORMAT, "voice": str}

_SESSION = {
    "type*": frozenset({"realtime"}),
    "model": str,
    "output_modalities": _TEXT_OR_AUDIO,
    "instructions": str,
    "audio": {
        "input": {
            "format": _FORMAT,
            "transcription": _TRANSCRIPTION,
            "noise_reduction": _NOISE_REDUCTION,
            "turn_detection": _TURN_DETECTION,
        },
        "output": {**_OUTPUT, "speed": float},
    },
    "include": [frozenset({"item.input_audio_transcription.logprobs"})],
    "tracing": _TRACING,
    "tools": [_TOOL],
    "tool_choice": _CHOICE,
    "reasoning": {"effort": frozenset({"minimal", "low", "medium", "high", "xhigh"})},
    "max_output_tokens": _LIMIT,
    "truncation": frozenset({"auto", "disabled"}),
}
_FLAT_SESSION = {
    "model": str,
    "modalities": _TEXT_OR_AUDIO,
    "instructions": str,
    "voice": str,
    "input_audio_format": _FLAT_FORMAT,
    "output_audio_format": _FLAT_FORMAT,
    "input_audio_transcription": _TRANSCRIPTION,
    "input_audio_noise_reduction": _NOISE_REDUCTION,
    "turn_detection": _TURN_DETECTION,
    "speed": float,
    "tracing": _TRACING,
    "tools": [_TOOL],
    "tool_choice": str,
    "temperature": float,
    "max_response_output_tokens": _LIMIT,
}
_REPLY = {
    "instructions": str,
    "tools": [_TOOL],
    "metadata": (None, dict),
    "conversation": str,
    "input": [dict],
}


@dataclass(frozen=True, kw_only=True)
class Version:
    """One generation. `session` and `reply` are the shapes of what a caller may set, `defaults`
    makes the session that one begins with; `modalities` and `limit` are the names of two settings
    in all three, `text` and `sound` the types of what an assistant's message is made of."""

    session: dict[str, Any]
    reply: dict[str, Any]
    defaults: Callable[[], dict[str, Any]]
    modalities: str
    limit: str
    text: str
    sound: str
    beta: bool

    def named(self, kind: str) -> str:
        """An event's name in this generation, from the newer one's."""
        if self.beta and kind.startswith("response.output_"):
            return kind.replace("output_text", "text").replace("output_audio", "audio")
        return kind


def _defaults() -> dict[str, Any]:
    sound = {"type": "audio/pcm", "rate": 24000}
    return {
        "type": "realtime",
        "output_modalities": ["audio"],
        "instructions": "",
        "audio": {
            "input": {"format": dict(sound), "turn_detection": None},
            "output": {"format": dict(sound), "voice": "marin", "speed": 1.0},
        },
        "tools": [],
        "tool_choice": "auto",
        "max_output_tokens": "inf",
        "truncation": "auto",
    }


def _flat_defaults() -> dict[str, Any]:
    return {
        "modalities": ["text", "audio"],
        "instructions": "",
        "voice": "alloy",
        "input_audio_format": "pcm16",
        "output_audio_format": "pcm16",
        "turn_detection": None,
        "tools": [],
        "tool_choice": "auto",
        "temperature": 0.8,
        "max_response_output_tokens": "inf",
    }


GA = Version(
    session=_SESSION,
    reply={
        **_REPLY,
        "output_modalities": _TEXT_OR_AUDIO,
        "audio": {"output": _OUTPUT},
        "tool_choice": _CHOICE,
        "max_output_tokens": _LIMIT,
    },
    defaults=_defaults,
    modalities="output_modalities",
    limit="max_output_tokens",
    text="output_text",
    sound="output_audio",
    beta=False,
)
BETA = Version(
    session=_FLAT_SESSION,
    reply={
        **_REPLY,
        "modalities": _TEXT_OR_AUDIO,
        "voice": str,
        "output_audio_format": _FLAT_FORMAT,
        "tool_choice": str,
        "temperature": float,
        "max_response_output_tokens": _LIMIT,
    },
    defaults=_flat_defaults,
    modalities="modalities",
    limit="max_response_output_tokens",
    text="text",
    sound="audio",
    beta=True,
)

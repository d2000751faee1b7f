"""A session's settings, as the caller changes them, and what a reply takes from them."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from engine.mock.realtime.version import Event, Version

_MINUTES = 60
_BYTES_PER_MS = {"audio/pcm": 48, "pcm16": 48}
_BYTES_PER_MS_OF_TELEPHONES = 8
_NULLABLE = "turn_detection"


@dataclass(frozen=True, slots=True)
class Manner:
    """How a reply is to be given: in sound or text, with how many tokens at most (None: any).

    `tool` is the name of a function that it must call in place of an answer, or "". `shown` are
    the settings as a response shows them.
    """

    sound: bool
    limit: int | None
    instructions: str
    tool: str
    bytes_per_ms: int
    shown: Event


class Session:
    """The settings of one session: `id` in the vendor's form, `now` in Unix seconds."""

    def __init__(self, version: Version, model: str, session_id: str, now: int) -> None:
        self._version = version
        self._fixed = {
            "id": session_id,
            "object": "realtime.session",
            "model": model,
            "expires_at": now + _MINUTES * 60,
        }
        self._settings = version.defaults()

    def update(self, wanted: Event) -> None:
        """Take over what is there, which has the version's shape; null takes a setting out.

        The model stays what it is, as the vendor says.
        """
        _merge(self._settings, wanted)
        self._settings.pop("model", None)

    def shown(self) -> Event:
        """All that holds now, as `session.created` and `session.updated` say it."""
        return deepcopy({**self._fixed, **self._settings})

    def transcribes(self) -> bool:
        """Whether the caller wants to read what was heard."""
        name = "input_audio_transcription" if self._version.beta else "transcription"
        place = self._settings if self._version.beta else self._audio("input")
        return name in place

    def input_bytes_per_ms(self) -> int:
        """What a millisecond of the caller's sound takes."""
        if self._version.beta:
            return _bytes_per_ms(self._settings["input_audio_format"])
        return _bytes_per_ms(self._audio("input")["format"]["type"])

    def manner(self, wanted: Event) -> Manner:
        """The settings with those of one `response.create` over them."""
        version = self._version
        merged = deepcopy(self._settings)
        _merge(merged, wanted)
        limit = merged.get(version.limit, "inf")
        modalities = merged[version.modalities]
        shown = {version.modalities: modalities, "max_output_tokens": limit}
        if version.beta:
            kind = merged["output_audio_format"]
            shown |= {name: merged[name] for name in ("voice", "temperature")}
            shown["output_audio_format"] = kind
        else:
            output = merged["audio"]["output"]
            kind = output["format"]["type"]
            shown["audio"] = {"output": {name: output[name] for name in ("format", "voice")}}
        if wanted.get("metadata") is not None:
            shown["metadata"] = wanted["metadata"]
        return Manner(
            sound="audio" in modalities,
            limit=limit if isinstance(limit, int) else None,
            instructions=merged.get("instructions", ""),
            tool=_tool(merged["tool_choice"], merged["tools"]),
            bytes_per_ms=_bytes_per_ms(kind),
            shown=shown,
        )

    def _audio(self, side: str) -> Event:
        part: Event = self._settings["audio"][side]
        return part


def _tool(choice: Any, tools: list[Event]) -> str:
    if isinstance(choice, dict):
        return str(choice["name"])
    return str(tools[0].get("name", "")) if choice == "required" and tools else ""


def _bytes_per_ms(kind: str) -> int:
    return _BYTES_PER_MS.get(kind, _BYTES_PER_MS_OF_TELEPHONES)


def _merge(settings: Event, wanted: Event) -> None:
    """Objects named alike become one; a sound's format and what has a `type` are replaced whole."""
    for name, value in wanted.items():
        held = settings.get(name)
        if isinstance(value, dict) and isinstance(held, dict) and "type" not in value:
            _merge(held, value)
        elif value is None and name != _NULLABLE:
            settings.pop(name, None)
        else:
            settings[name] = deepcopy(value)

"""The settings of a session, which the caller changes, and those of one response."""

from __future__ import annotations

from copy import deepcopy

from msgspec import Struct

from engine.mock.conversations.realtime.client_events import Event
from engine.values.trees import Json

_MINUTES = 60
_BYTES_PER_MS = {"audio/pcm": 48, "audio/pcmu": 8, "audio/pcma": 8}
_NULLABLE = "turn_detection"


class ResponseSettings(Struct, frozen=True):
    """The settings of one response: audio or text, and at most `limit` tokens (None: any number).

    `tool` is the name of a function to call instead of an answer, "" for none. `fields` are the
    settings as fields of a response.
    """

    audio: bool
    limit: int | None
    instructions: str
    tool: str
    bytes_per_ms: int
    fields: Event


class RealtimeSession:
    """The settings of one session: `id` in the vendor's form, `now` in Unix seconds."""

    def __init__(self, model: str, session_id: str, now: int) -> None:
        self._fixed = {
            "id": session_id,
            "object": "realtime.session",
            "model": model,
            "expires_at": now + _MINUTES * 60,
        }
        self._settings = _defaults()

    def update(self, settings: Event) -> None:
        """Replace settings by those of the same name; null removes one.

        The model of a session cannot be changed, as in the vendor's API.
        """
        _merge(self._settings, settings)
        self._settings.pop("model", None)

    def settings(self) -> Event:
        """All settings, as in `session.created` and `session.updated`."""
        return deepcopy({**self._fixed, **self._settings})

    def transcribes(self) -> bool:
        """Whether the audio of the caller is transcribed."""
        return "transcription" in self._settings["audio"]["input"]

    def input_bytes_per_ms(self) -> int:
        """The size of a millisecond of the caller's audio."""
        return _BYTES_PER_MS[self._settings["audio"]["input"]["format"]["type"]]

    def response_settings(self, settings: Event) -> ResponseSettings:
        """The settings, overridden by those of one `response.create`."""
        values = deepcopy(self._settings)
        _merge(values, settings)
        limit = values.get("max_output_tokens", "inf")
        modalities, output = values["output_modalities"], values["audio"]["output"]
        fields = {
            "output_modalities": modalities,
            "max_output_tokens": limit,
            "audio": {"output": {name: output[name] for name in ("format", "voice")}},
        }
        if settings.get("metadata") is not None:
            fields["metadata"] = settings["metadata"]
        return ResponseSettings(
            audio="audio" in modalities,
            limit=limit if isinstance(limit, int) else None,
            instructions=values.get("instructions", ""),
            tool=_tool(values["tool_choice"], values["tools"]),
            bytes_per_ms=_BYTES_PER_MS[output["format"]["type"]],
            fields=fields,
        )


def _tool(choice: object, tools: list[Event]) -> str:
    if isinstance(choice, dict):
        return str(choice["name"])
    return str(tools[0].get("name", "")) if choice == "required" and tools else ""


def _merge(settings: Event, changes: Event) -> None:
    """Apply changes to settings. Objects are merged, except that one with a `type` replaces the
    current one."""
    for name, value in changes.items():
        current = settings.get(name)
        if isinstance(value, dict) and isinstance(current, dict) and "type" not in value:
            _merge(current, value)
        elif value is None and name != _NULLABLE:
            settings.pop(name, None)
        else:
            settings[name] = deepcopy(value)


def _defaults() -> Json:
    pcm = {"type": "audio/pcm", "rate": 24000}
    return {
        "type": "realtime",
        "output_modalities": ["audio"],
        "instructions": "",
        "audio": {
            "input": {"format": dict(pcm), "turn_detection": None},
            "output": {"format": dict(pcm), "voice": "marin", "speed": 1.0},
        },
        "tools": [],
        "tool_choice": "auto",
        "max_output_tokens": "inf",
        "truncation": "auto",
    }

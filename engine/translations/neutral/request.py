"""A chat request in the neutral form.

Numbers that are only passed on are kept as their JSON text (Raw), so that 0.70 stays 0.70.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Raw, Struct

from engine.translations.neutral.content import Block, Extra, Text

Role = Literal["system", "user", "assistant"]


class Message(Struct, kw_only=True):
    """One turn. Results of tools are blocks of a user's turn, in the order of the caller."""

    role: Role
    blocks: list[Block]
    name: str = ""
    place: str = ""
    extra: Extra = {}


class Tool(Struct, kw_only=True):
    """A function that the model may call; `schema` is the JSON Schema of its arguments, None for a
    function without any."""

    name: str
    description: str = ""
    schema: Raw | None = None
    strict: bool | None = None
    place: str = ""
    extra: Extra = {}


class BuiltInTool(Struct, kw_only=True):
    """A tool that the vendor runs. `kind` is "web_search", which several vendors have, or "" for
    one that only `language` has; `raw` is its whole declaration and `name` the vendor's word."""

    language: str
    name: str
    raw: Raw
    kind: Literal["web_search", ""] = ""
    place: str = ""


class ToolChoice(Struct):
    """Which tools the model may or must call: "any" means that it must call one. With `names` only
    those may be called. `native` is the vendor's word where it says more than `mode`."""

    mode: Literal["auto", "none", "any"]
    names: tuple[str, ...] = ()
    native: str = ""


class OutputFormat(Struct, kw_only=True):
    """The form of the answer: any JSON, or JSON of a schema."""

    kind: Literal["json", "json_schema"]
    schema: Raw | None = None
    name: str = ""
    description: str = ""
    strict: bool | None = None


class Thinking(Struct, kw_only=True):
    """How much the model is to reason: not at all (`off`), by an `effort` (none, minimal, low,
    medium, high, xhigh, max), by a `budget` of tokens, or as it likes (`adaptive`). `visible`:
    whether the caller wants to see the thoughts, None if it did not say."""

    off: bool = False
    effort: str = ""
    budget: int | None = None
    adaptive: bool = False
    visible: bool | None = None


class ChatRequest(Struct, kw_only=True):
    """A request for a chat. `system` are the instructions at its beginning; `messages` the turns
    in their order, system turns in the middle included.

    `as_list`: an answer in one piece is wanted as the only item of a list.
    `stream_usage`: whether the caller wants usage reported in a stream. `id` is the gateway's id of
    the request and `time` when it came, in seconds since 1970. `places` are where the
    caller wrote a field: `{"max_tokens": "generationConfig.maxOutputTokens"}`. `unread` are the
    places of everything that the neutral form has no name for, with `extra` and the `extra` of
    blocks and messages as their contents.
    """

    language: str
    model: str
    messages: list[Message]
    system: list[Text] = []
    stream: bool = False
    as_list: bool = False
    stream_usage: bool = True
    tools: list[Tool | BuiltInTool] = []
    tool_choice: ToolChoice | None = None
    parallel_calls: bool | None = None
    output: OutputFormat | None = None
    thinking: Thinking | None = None
    max_tokens: int | None = None
    temperature: Raw | None = None
    top_p: Raw | None = None
    top_k: Raw | None = None
    stop: list[str] = []
    candidates: int | None = None
    seed: Raw | None = None
    presence_penalty: Raw | None = None
    frequency_penalty: Raw | None = None
    logprobs: bool = False
    top_logprobs: int | None = None
    verbosity: str = ""
    user: str = ""
    id: str = ""
    time: int = 0
    places: dict[str, str] = {}
    unread: list[str] = []
    extra: Extra = {}

    def place_of(self, field: str) -> str:
        """Where the caller wrote a field, in its own words."""
        return self.places.get(field, field)


def merged(messages: list[Message]) -> list[Message]:
    """The messages with neighbours of one role as one message, their blocks one after another."""
    result: list[Message] = []
    for message in messages:
        if result and result[-1].role == message.role:
            before = result[-1]
            result[-1] = Message(
                role=before.role,
                blocks=[*before.blocks, *message.blocks],
                name=before.name,
                place=before.place,
                extra={**before.extra, **message.extra},
            )
        else:
            result.append(message)
    return result

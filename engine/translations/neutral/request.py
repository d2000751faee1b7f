"""A chat request in the neutral form.

Numbers that are only passed on are kept as JSON text (Raw), so that 0.70 stays 0.70.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, compress, groupby
from operator import attrgetter, eq
from typing import Literal

from msgspec import Raw, Struct
from msgspec.structs import replace

from engine.translations.neutral.content import Block, CacheMark, Extra, Text
from engine.translations.neutral.json_members import WrongType
from engine.translations.neutral.request_json import JsonObject, present
from engine.values.trees import Json

Role = Literal["system", "user", "assistant"]
_role, _blocks = attrgetter("role"), attrgetter("blocks")


class Message(Struct, kw_only=True, gc=False):
    """One turn. Results of tools are blocks of a user's turn, in the order of the caller."""

    role: Role
    blocks: list[Block]
    place: str = ""


class Tool(Struct, kw_only=True, gc=False):
    """A function that the model may call; `schema` is the JSON Schema of its arguments, None for a
    function without any, and `schema_member` where it stands in the declaration at `place`. `cache`
    is its mark for the prompt cache. A `deferred` one is declared to the model only when the result
    of a search names it."""

    name: str
    description: str = ""
    schema: Raw | None = None
    strict: bool | None = None
    place: str = ""
    schema_member: str = "parameters"
    cache: CacheMark = ""
    deferred: bool = False

    @property
    def schema_place(self) -> str:
        return f"{self.place}.{self.schema_member}"

    @property
    def strict_place(self) -> str:
        """The place of `strict`, which stands beside the schema."""
        return f"{self.schema_place.rpartition('.')[0]}.strict"


class BuiltInTool(Struct, kw_only=True):
    """A tool of a kind that other languages lack, usually one that the vendor runs. `kind` is
    "web_search", which several vendors have, or "" for one that only the caller's has; `raw` is its
    whole declaration and `name` the vendor's name for it. `functions` replace a tool that the
    caller runs.
    """

    name: str
    raw: Raw = Raw(b"{}")
    kind: Literal["web_search", ""] = ""
    functions: list[Tool] = []
    place: str = ""


class CallerTool(Struct, frozen=True):
    """A tool in the caller's terms: its kind in the caller's language, its name, and the group of
    tools in which the name is unique."""

    kind: str
    name: str
    group: str = ""


class ToolChoice(Struct):
    """Which tools the model may or must call: "any" means that it must call one. With `names` only
    those may be called."""

    mode: Literal["auto", "none", "any"]
    names: tuple[str, ...] = ()


class OutputFormat(Struct, kw_only=True):
    """The form of the answer: any JSON (with a schema that says no more than that it is an object,
    if it must be one), or JSON of a schema."""

    kind: Literal["json", "json_schema"]
    schema: Raw | None = None
    name: str = ""
    description: str = ""
    strict: bool | None = None


def any_object() -> OutputFormat:
    """The form of an answer that is any JSON object (`json_object`)."""
    return OutputFormat(kind="json", schema=Raw(b'{"type":"object"}'))


class Thinking(Struct, kw_only=True):
    """The amount of reasoning: none (`off`), by an `effort` (none, minimal, low, medium, high,
    xhigh, max), by a `budget` of tokens, or as the model decides (`adaptive`). `visible`: whether
    the caller requests the thoughts, None if it does not specify that."""

    off: bool = False
    effort: str = ""
    budget: int | None = None
    adaptive: bool = False
    visible: bool | None = None

    def joined(self, other: Thinking) -> bool:
        """Take from `other` what is open here; False, and nothing, if the two contradict."""
        ours, theirs = (self.effort, self.budget), (other.effort, other.budget)
        if self.off != other.off or any(
            a and b and a != b for a, b in zip(ours, theirs, strict=True)
        ):
            return False
        self.effort, self.budget = self.effort or other.effort, self.budget or other.budget
        self.visible = other.visible if self.visible is None else self.visible
        return True


class MissingTurns(Struct, frozen=True):
    """Turns that a request only refers to, because the caller's vendor has them: the `place` of the
    reference, and the sentence that says what to send `instead`."""

    place: str
    instead: str


class Compaction(Struct, kw_only=True):
    """A summary is wanted in place of an answer, because of what stands at `place`. `seal` makes
    the text that the caller keeps of it; None if the gateway has no key. `retained` are the items
    of the user's that the answer repeats, None if it does not."""

    place: str
    seal: Callable[[str], str] | None = None
    retained: list[Raw] | None = None


NUMBERS = ("temperature", "top_p", "top_k", "seed", "presence_penalty", "frequency_penalty")
"""The parameters of a request that keep their JSON text."""
_numbers = attrgetter(*NUMBERS)


class ChatRequest(Struct, kw_only=True):
    """A request for a chat. `system` are the instructions at its beginning; `messages` the turns
    in their order, system turns in the middle included.

    `prefill` is the place of an assistant's turn at the end that the model is to continue, "" for
    none: in most languages it answers anew.

    `loaded_tools` are tools that results of earlier searches for tools declare; those of
    `deferred_tools`, by their names, are declared only then. `caller_tools` are
    the caller's tools by the names of the functions that stand for them.

    `as_list`: the stream is wanted as a JSON array, not as server-sent events.
    `size` is that of the caller's request in bytes, which bounds what is written for the target.
    `stream_usage`: whether the caller wants usage reported in a stream, `ask_usage`: whether the
    target may be asked to. `id` is the gateway's id of the request and `time` when it came, in
    seconds since 1970. `places` are where the caller wrote a field:
    `{"max_tokens": "generationConfig.maxOutputTokens"}`. `unread` are the places of everything that
    the neutral form has no name for; `extra` are members of the request that OpenAI's other
    language has, too, or that an answer repeats. `missing_turns` are never dropped: an answer
    without them is a wrong one. `error_details` are what the caller's vendor says in its error of a
    field that it refuses, by the field: SDKs read them. `compaction`: a summary is wanted.
    `one_call`: the caller's form has no place for a second call, so that only the first is wanted.
    """

    language: str
    model: str
    messages: list[Message]
    system: list[Text] = []
    prefill: str = ""
    stream: bool = False
    as_list: bool = False
    stream_usage: bool = True
    ask_usage: bool = True
    tools: list[Tool | BuiltInTool] = []
    loaded_tools: list[Tool | BuiltInTool] = []
    deferred_tools: frozenset[str] = frozenset()
    caller_tools: dict[str, CallerTool] = {}
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
    size: int = 0
    places: dict[str, str] = {}
    unread: list[str] = []
    missing_turns: list[MissingTurns] = []
    error_details: dict[str, Json] = {}
    extra: Extra = {}
    compaction: Compaction | None = None
    one_call: bool = False

    def place_of(self, field: str) -> str:
        return self.places.get(field, field)


def read_numbers(members: JsonObject, request: ChatRequest) -> None:
    """Set the NUMBERS of a request to those of the same names in what the caller sent."""
    values = _numbers(members)
    for name, raw in compress(zip(NUMBERS, values, strict=True), values):
        setattr(request, name, present(raw))


def callable_tools(request: ChatRequest) -> list[Tool | BuiltInTool]:
    """The tools to be declared: without the functions that a choice excludes, where it cannot be
    said since it names several of them."""
    choice, tools = request.tool_choice, request.tools
    if choice is None or not choice.names or (choice.mode == "any" and len(choice.names) == 1):
        return tools
    names = frozenset(choice.names)
    return [tool for tool in tools if not isinstance(tool, Tool) or tool.name in names]


def with_unique_tools(tools: list[Tool | BuiltInTool]) -> list[Tool | BuiltInTool]:
    """Without functions that are declared again in the same words. Raises WrongType."""
    names = [tool.name for tool in tools if isinstance(tool, Tool)]
    if len(set(names)) == len(names):
        return tools
    functions: dict[str, Tool] = {}
    result = []
    for tool in tools:
        if isinstance(tool, Tool):
            first = functions.setdefault(tool.name, tool)
            if first is not tool and replace(tool, place=first.place, cache=first.cache) == first:
                continue
            if first is not tool:
                raise WrongType(tool.place, f"a tool of another name than '{first.place}'")
        result.append(tool)
    return result


def merged(messages: list[Message]) -> list[Message]:
    """The messages, with adjacent ones of the same role joined to one."""
    roles = list(map(_role, messages))
    if not any(map(eq, roles, roles[1:])):
        return messages
    result: list[Message] = []
    for _, turn in groupby(messages, _role):
        first, *others = turn
        if others:
            blocks = chain(first.blocks, *map(_blocks, others))
            first = replace(first, blocks=list(blocks))
        result.append(first)
    return result

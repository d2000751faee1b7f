"""The shapes of responses requests (the members that are read), and the features of callers.

`id`, `status` and some others are marks that the vendor has made on an item; they mean nothing to
another vendor.
"""

from __future__ import annotations

from msgspec import Raw, Struct

from engine.translations.neutral.json_members import OBJECT, value_of
from engine.translations.neutral.language import Feature, Features, each_alone
from engine.translations.neutral.request_json import JsonObject, UnknownObject
from engine.translations.vendors.openai_content import AudioPart, RefusalPart
from engine.translations.vendors.openai_request_fields import FunctionObject, with_text_arguments


class TextPart(JsonObject, tag="text"):
    text: str | None = None
    annotations: Raw = Raw()
    logprobs: Raw = Raw()


class InputTextPart(TextPart, tag="input_text"):
    """A text of the caller's."""


class OutputTextPart(TextPart, tag="output_text"):
    """A text of the model's."""


class SummaryTextPart(TextPart, tag="summary_text"):
    """A summary of thoughts."""


class ImagePart(JsonObject, tag="input_image"):
    image_url: str | None = None
    file_id: str | None = None
    detail: str | None = None


class FilePart(JsonObject, tag="input_file"):
    file_url: str | None = None
    file_data: str | None = None
    file_id: str | None = None
    filename: str | None = None


Part = (
    InputTextPart
    | OutputTextPart
    | TextPart
    | SummaryTextPart
    | RefusalPart
    | ImagePart
    | FilePart
    | AudioPart
    | UnknownObject
)
Content = str | list[Part] | None


class ItemHead(Struct):
    type: str | None = None
    role: Raw = Raw()
    namespace: Raw = Raw()


class ItemObject(JsonObject):
    type: Raw = Raw()
    id: Raw = Raw()
    status: Raw = Raw()
    internal_chat_message_metadata_passthrough: Raw = Raw()
    """Codex's own provider marks items with it, for its vendor alone (0.171)."""


class MessageItem(ItemObject):
    role: str | None = None
    content: Content = None
    phase: Raw = Raw()


class AgentMessageItem(MessageItem):
    """What another agent of the caller's says to this one (Codex)."""

    author: str | None = None
    recipient: Raw = Raw()


class ToolsItem(ItemObject):
    """Tools that are declared in the conversation (Codex)."""

    role: Raw = Raw()
    tools: list[Raw] | None = None


class CallItem(ItemObject):
    """A call of a function, or of another tool that the caller runs, which has an `input`."""

    call_id: str | None = None
    namespace: str | None = None
    name: str | None = None
    arguments: str | None = None
    parsed_arguments: Raw = Raw()

    @classmethod
    def documented(cls, members: dict[str, Raw]) -> dict[str, Raw]:
        return with_text_arguments(members)


class CustomCallItem(CallItem):
    input: str | None = None


class ResultItem(ItemObject):
    call_id: str | None = None
    output: Content = None
    name: Raw = Raw()


class ShellCallItem(ItemObject):
    call_id: str | None = None
    action: Raw = Raw()


class SearchCallItem(ItemObject):
    call_id: str | None = None
    arguments: Raw = Raw()
    execution: Raw = Raw()


class SearchResultItem(ResultItem):
    tools: list[Raw] | None = None
    execution: Raw = Raw()


class ReasoningItem(JsonObject):
    type: Raw = Raw()
    id: str | None = None
    status: Raw = Raw()
    encrypted_content: str | None = None
    summary: Raw = Raw()
    content: Raw = Raw()
    internal_chat_message_metadata_passthrough: Raw = Raw()


class FunctionTool(FunctionObject):
    """The declaration as a tool; loading it later changes no answer. Some programs nest its members
    as chat completions do."""

    type: Raw = Raw()
    defer_loading: Raw = Raw()

    @classmethod
    def documented(cls, members: dict[str, Raw]) -> dict[str, Raw]:
        function = value_of(OBJECT, members.get("function", b"")) if "name" not in members else None
        if function is None:
            return members
        return {name: raw for name, raw in members.items() if name != "function"} | function


class RequestObject(JsonObject):
    notes = False

    model: str | None = None
    input: str | list[Raw] | None = None
    instructions: str | None = None
    stream: bool | None = None
    tools: list[Raw] | None = None
    tool_choice: Raw = Raw()
    parallel_tool_calls: bool | None = None
    text: Raw = Raw()
    max_output_tokens: int | None = None
    temperature: Raw = Raw()
    top_p: Raw = Raw()
    top_logprobs: int | None = None
    user: str | None = None
    reasoning: Raw = Raw()
    include: Raw = Raw()
    store: Raw = Raw()
    background: Raw = Raw()
    truncation: Raw = Raw()
    stream_options: Raw = Raw()


_PIXEL = "data:image/png;base64,iVBORw0KGgo="
_PAGE = "data:application/pdf;base64,JVBERi0="
_LINK = "https://example.com/a.png"
_TOOLS = [{"type": "function", "name": "look", "parameters": {"type": "object"}, "strict": False}]
_FORM = {"type": "json_schema", "name": "answer", "schema": {"type": "object"}}
_LOGPROBS = {"top_logprobs": 2, "include": ["message.output_text.logprobs"]}


def _content(name: str, kind: str, **members: object) -> Feature:
    parts = [{"type": "input_text", "text": "Hi"}, {"type": kind, **members}]
    return Feature("content", name, {"input": [{"role": "user", "content": parts}]})


def _tool(kind: str, feature: str = "", **members: object) -> Feature:
    return Feature("tools", feature or kind, {"tools": [{"type": kind, **members}]})


FEATURES = Features(
    {"input": "Hi", "store": False},
    [
        *each_alone("sampling", temperature=0.5, top_p=0.5),
        Feature("answer", "max_output_tokens", {"max_output_tokens": 4096}),
        Feature("answer", "top_logprobs", _LOGPROBS),
        Feature("answer", "text.format", {"text": {"format": {"type": "json_object"}}}),
        Feature("answer", "text.format with a schema", {"text": {"format": _FORM}}),
        Feature("answer", "text.verbosity", {"text": {"verbosity": "low"}}),
        Feature("answer", "moderation", {"moderation": {"model": "omni-moderation-latest"}}),
        Feature("reasoning", "reasoning.effort", {"reasoning": {"effort": "low"}}),
        Feature("reasoning", "reasoning.summary", {"reasoning": {"summary": "auto"}}),
        Feature("tools", "tools", {"tools": _TOOLS}),
        Feature("tools", "tool_choice", {"tools": _TOOLS, "tool_choice": "required"}),
        Feature("tools", "parallel_tool_calls", {"tools": _TOOLS, "parallel_tool_calls": False}),
        Feature("tools", "max_tool_calls", {"tools": _TOOLS, "max_tool_calls": 2}),
        _tool("custom", "custom tools", name="x"),
        _tool("web_search"),
        _tool("file_search", vector_store_ids=["vs_1"]),
        _tool("code_interpreter", container={"type": "auto"}),
        _tool("image_generation"),
        _tool("mcp", server_label="x", server_url="https://example.com"),
        _content("images", "input_image", image_url=_PIXEL),
        _content("image links", "input_image", image_url=_LINK),
        _content("documents", "input_file", filename="a.pdf", file_data=_PAGE),
        _content("uploaded files", "input_file", file_id="file-1"),
        *each_alone("state", store=True, previous_response_id="resp_1", conversation="conv_1"),
        *each_alone("state", background=True, prompt={"id": "pmpt_1"}, truncation="auto"),
        Feature("state", "context_management", {"context_management": [{"type": "compaction"}]}),
    ],
)

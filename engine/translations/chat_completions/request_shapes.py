"""The shapes of chat completions requests (the members that are read), and the features of
callers."""

from __future__ import annotations

from msgspec import Raw, Struct
from msgspec.json import encode

from engine.translations.neutral.answer_json import TextPiece
from engine.translations.neutral.language import Feature, Features, each_alone
from engine.translations.neutral.request_json import JsonObject, UnknownObject
from engine.translations.vendors.openai_content import AudioPart, RefusalPart
from engine.translations.vendors.openai_request_fields import FunctionObject, with_text_arguments


class TextPart(JsonObject, tag="text"):
    text: str | None = None


class ThinkingPart(Struct):
    """Thoughts that the caller sends back: a list as Mistral writes them, in which references to
    sources have no text, a text from others."""

    thinking: list[TextPiece] | str


class ImageUrl(JsonObject):
    url: str | None = None
    detail: str | None = None


class ImagePart(JsonObject, tag="image_url"):
    """An image. Callers of Mistral's may write its URL alone."""

    image_url: ImageUrl

    @classmethod
    def documented(cls, members: dict[str, Raw]) -> dict[str, Raw]:
        url = members.get("image_url", Raw())
        is_text = bytes(memoryview(url)[:1]) == b'"'
        return {**members, "image_url": Raw(b'{"url":%b}' % bytes(url))} if is_text else members


class FileObject(JsonObject):
    filename: str | None = None
    file_data: str | None = None
    file_id: str | None = None


class FilePart(JsonObject, tag="file"):
    file: FileObject


Part = TextPart | RefusalPart | ImagePart | AudioPart | FilePart | UnknownObject
Content = str | list[Part] | None


class CalledFunction(JsonObject):
    """The function of a call. SDKs send back what they made of its arguments, too. Callers of
    Mistral's may write the arguments as an object."""

    name: str | None = None
    arguments: str | None = None
    parsed_arguments: Raw = Raw()

    @classmethod
    def documented(cls, members: dict[str, Raw]) -> dict[str, Raw]:
        return with_text_arguments(members)


class CallObject(JsonObject, tag="function"):
    """A call of a function; `index` is sent back by SDKs, which read it in a stream."""

    function: CalledFunction
    id: str | None = None
    index: Raw = Raw()
    extra_content: Raw = Raw()


class MessageObject(JsonObject, tag_field="role", tag=""):
    content: Content = None


class SystemMessage(MessageObject, tag="system"):
    """Instructions."""


class DeveloperMessage(MessageObject, tag="developer"):
    """Instructions, as newer models call them."""


class UserMessage(MessageObject, tag="user"):
    """A user's turn."""


class AssistantMessage(MessageObject, tag="assistant"):
    """A model's turn. SDKs send back what they made of it, too: `parsed` and `annotations`; LiteLLM
    has in `provider_specific_fields` what it does not know."""

    refusal: str | None = None
    tool_calls: list[CallObject | UnknownObject] | None = None
    function_call: CalledFunction | None = None
    reasoning_details: list[Raw] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    provider_specific_fields: Raw = Raw()
    extra_content: Raw = Raw()
    parsed: Raw = Raw()
    annotations: Raw = Raw()
    prefix: bool | None = None


class ToolMessage(MessageObject, tag="tool"):
    tool_call_id: str | None = None


class FunctionMessage(MessageObject, tag="function"):
    """What a function returned, as it was called before `tool_calls`: by its name."""

    name: str | None = None


class ToolObject(JsonObject, tag="function"):
    """A function. Cursor writes its members into the tool, in the words of other formats, too."""

    function: FunctionObject

    @classmethod
    def documented(cls, members: dict[str, Raw]) -> dict[str, Raw]:
        if "function" in members or "name" not in members:
            return members
        function = {
            "parameters" if name == "input_schema" else name: members[name] for name in members
        }
        function.pop("type", None)
        return {"function": Raw(encode(function))}


AnyMessage = (
    SystemMessage
    | DeveloperMessage
    | UserMessage
    | AssistantMessage
    | ToolMessage
    | FunctionMessage
)


class StreamOptions(JsonObject):
    include_usage: bool | None = None
    include_obfuscation: bool | None = None


class RequestObject(JsonObject):
    notes = False

    model: str | None = None
    messages: list[AnyMessage] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    tools: list[ToolObject | UnknownObject] | None = None
    tool_choice: Raw = Raw()
    functions: list[FunctionObject] | None = None
    function_call: Raw = Raw()
    parallel_tool_calls: bool | None = None
    web_search_options: Raw = Raw()
    response_format: Raw = Raw()
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    temperature: Raw = Raw()
    top_p: Raw = Raw()
    top_k: Raw = Raw()
    seed: Raw = Raw()
    random_seed: Raw = Raw()
    provider: Raw = Raw()
    presence_penalty: Raw = Raw()
    frequency_penalty: Raw = Raw()
    n: int | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    verbosity: str | None = None
    user: str | None = None
    stop: str | list[str] | None = None
    reasoning_effort: str | None = None
    reasoning: Raw = Raw()
    thinking: Raw = Raw()
    enable_thinking: Raw = Raw()
    thinking_budget: Raw = Raw()
    chat_template_kwargs: Raw = Raw()
    repetition_penalty: Raw = Raw()
    min_p: Raw = Raw()
    store: Raw = Raw()
    logit_bias: Raw = Raw()
    modalities: Raw = Raw()
    search_parameters: Raw = Raw()


_PIXEL = "data:image/png;base64,iVBORw0KGgo="
_PAGE = "data:application/pdf;base64,JVBERi0="
_LINK = "https://example.com/a.png"
_TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
_SCHEMA = {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"type": "object"}}}
_SPEECH = {"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "mp3"}}
_AUDIO = {"data": "AAAA", "format": "wav"}


def _content(name: str, kind: str, value: object) -> Feature:
    parts = [{"type": "text", "text": "Hi"}, {"type": kind, kind: value}]
    return Feature("content", name, {"messages": [{"role": "user", "content": parts}]})


FEATURES = Features(
    {"messages": [{"role": "user", "content": "Hi"}]},
    [
        *each_alone("sampling", temperature=0.5, top_p=0.5, seed=1, stop=["END"], n=2),
        *each_alone("sampling", presence_penalty=1, frequency_penalty=1, logit_bias={"1": 2}),
        Feature("answer", "max_completion_tokens", {"max_completion_tokens": 4096}),
        Feature("answer", "logprobs", {"logprobs": True, "top_logprobs": 2}),
        Feature("answer", "response_format", {"response_format": {"type": "json_object"}}),
        Feature("answer", "response_format with a schema", {"response_format": _SCHEMA}),
        Feature("answer", "verbosity", {"verbosity": "low"}),
        Feature("answer", "audio", _SPEECH),
        Feature("answer", "prediction", {"prediction": {"type": "content", "content": "Hi"}}),
        Feature("answer", "moderation", {"moderation": {"model": "omni-moderation-latest"}}),
        *each_alone("reasoning", reasoning_effort="low", reasoning={"effort": "low"}),
        Feature("reasoning", "thinking", {"thinking": {"type": "enabled", "budget_tokens": 1024}}),
        Feature("reasoning", "enable_thinking", {"enable_thinking": True}),
        Feature("tools", "tools", {"tools": _TOOLS}),
        Feature("tools", "tool_choice", {"tools": _TOOLS, "tool_choice": "required"}),
        Feature("tools", "parallel_tool_calls", {"tools": _TOOLS, "parallel_tool_calls": False}),
        Feature("tools", "custom tools", {"tools": [{"type": "custom", "custom": {"name": "x"}}]}),
        *each_alone("tools", web_search_options={}, functions=[{"name": "look"}]),
        _content("images", "image_url", {"url": _PIXEL}),
        _content("image links", "image_url", {"url": _LINK}),
        _content("input_audio", "input_audio", _AUDIO),
        _content("documents", "file", {"filename": "a.pdf", "file_data": _PAGE}),
        _content("uploaded files", "file", {"file_id": "file-1"}),
        Feature("state", "store", {"store": True}),
    ],
)

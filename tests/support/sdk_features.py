"""The official SDKs as callers of a chat: images, parsed answers, parallel calls and errors."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any, Protocol

import anthropic
import openai
from google.genai import errors, types
from pydantic import BaseModel

from tests.support.sdk_callers import (
    QUESTION,
    ChatCompletions,
    GenerateContent,
    Messages,
    Responses,
)

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ"
    "RU5ErkJggg=="
)
"""A PNG of one pixel, in base64."""


class Place(BaseModel):
    """The type that an answer is parsed into."""

    city: str
    n: float


@dataclass(frozen=True)
class Failure:
    """An error as an SDK raises it: the name of its class, the status, and the header."""

    kind: str
    status: int
    message: str
    retry_after: str | None


@dataclass(frozen=True)
class Thoughtful:
    """An answer with thoughts as an SDK shows it; `reasoning` are the tokens of the thoughts."""

    thoughts: str
    text: str
    reasoning: int


class FeatureCaller(Protocol):
    """An SDK. `failures` are the names of its exceptions by status, `broken` what it raises for an
    error inside a stream."""

    language: str
    failures: dict[int, str]
    broken: tuple[type[Exception], ...]

    def image(self, port: int, model: str) -> str:
        """The text of an answer about an image."""

    def parse(self, port: int, model: str) -> Any:
        """The answer as the SDK parses it by the schema of Place."""

    def two_calls(self, port: int, model: str, *, stream: bool, error: bool) -> str:
        """The text after two results of tools, `one` and `two`; `error`: the second failed."""

    def think(self, port: int, model: str, *, stream: bool) -> Thoughtful:
        """An answer to a caller who asks the model to think, and to show its thoughts."""

    def failure(self, port: int, model: str) -> Failure:
        """The error that the SDK raises for a question."""

    def read_stream(self, port: int, model: str) -> list[str]:
        """The pieces of text of a stream; raises one of `broken` for one that breaks off."""


def _status_failure(error: Any) -> Failure:
    """The error of OpenAI's and Anthropic's SDKs, which are made alike."""
    response = error.response
    message = error.body.get("message") or error.body["error"]["message"]
    header = response.headers.get("retry-after")
    return Failure(type(error).__name__, error.status_code, message, header)


_NAMES = {
    400: "BadRequestError",
    429: "RateLimitError",
    503: "InternalServerError",
}


class ChatCompletionsFeatures(ChatCompletions):
    failures = _NAMES
    broken: tuple[type[Exception], ...] = (openai.APIError,)

    def _ask(self, port: int, model: str, content: Any) -> Any:
        with self._client(port) as client:
            turns: Any = [{"role": "user", "content": content}]
            return client.chat.completions.create(model=model, messages=turns)

    def image(self, port: int, model: str) -> str:
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
        answer = self._ask(port, model, [{"type": "text", "text": QUESTION}, image])
        return answer.choices[0].message.content  # type: ignore[no-any-return]

    def parse(self, port: int, model: str) -> Any:
        turns: Any = [{"role": "user", "content": QUESTION}]
        with self._client(port) as client:
            answer = client.chat.completions.parse(
                model=model, messages=turns, response_format=Place
            )
        return answer.choices[0].message.parsed

    def two_calls(self, port: int, model: str, *, stream: bool, error: bool) -> str:
        turns: list[Any] = [{"role": "user", "content": QUESTION}]
        with self._client(port) as client:
            arguments: Any = {"model": model, "messages": turns, "tools": self._tools}
            send = self._streamed if stream else _create_chat
            message = send(client, **arguments).choices[0].message
            first, second = message.tool_calls
            turns.append(message)
            for call, text in ((first, "one"), (second, "two")):
                turns.append({"role": "tool", "tool_call_id": call.id, "content": text})
            answer = _create_chat(client, **arguments)
        return answer.choices[0].message.content  # type: ignore[no-any-return]

    def think(self, port: int, model: str, *, stream: bool) -> Thoughtful:
        turns: Any = [{"role": "user", "content": QUESTION}]
        send = self._streamed if stream else _create_chat
        with self._client(port) as client:
            answer = send(client, model=model, messages=turns, reasoning_effort="low")
        message = answer.choices[0].message
        reasoning = answer.usage.completion_tokens_details.reasoning_tokens
        return Thoughtful(message.reasoning_content, message.content, reasoning)

    def failure(self, port: int, model: str) -> Failure:
        try:
            self._ask(port, model, QUESTION)
        except openai.APIStatusError as error:
            return _status_failure(error)
        raise AssertionError("no error")

    def read_stream(self, port: int, model: str) -> list[str]:
        turns: Any = [{"role": "user", "content": QUESTION}]
        with self._client(port) as client:
            stream = client.chat.completions.create(model=model, messages=turns, stream=True)
            return [c.delta.content for chunk in stream for c in chunk.choices if c.delta.content]


def _create_chat(client: openai.OpenAI, **arguments: Any) -> Any:
    return client.chat.completions.create(**arguments)


class ResponsesFeatures(Responses):
    failures = _NAMES
    broken: tuple[type[Exception], ...] = (openai.APIError,)

    def _ask(self, port: int, model: str, items: Any) -> Any:
        with self._client(port) as client:
            return client.responses.create(model=model, input=items, store=False)

    def image(self, port: int, model: str) -> str:
        image = {
            "type": "input_image",
            "detail": "auto",
            "image_url": f"data:image/png;base64,{PIXEL}",
        }
        content = [{"type": "input_text", "text": QUESTION}, image]
        answer = self._ask(port, model, [{"role": "user", "content": content}])
        return answer.output_text  # type: ignore[no-any-return]

    def parse(self, port: int, model: str) -> Any:
        with self._client(port) as client:
            answer = client.responses.parse(
                model=model, input=QUESTION, text_format=Place, store=False
            )
        return answer.output_parsed

    def two_calls(self, port: int, model: str, *, stream: bool, error: bool) -> str:
        turns: list[Any] = [{"role": "user", "content": QUESTION}]
        with self._client(port) as client:
            arguments: dict[str, Any] = {
                "model": model,
                "input": turns,
                "tools": self._tools,
                "store": False,
                "include": ["reasoning.encrypted_content"],
            }
            send = self._streamed if stream else _create_response
            output = send(client, **arguments).output
            first, second = [item for item in output if item.type == "function_call"]
            turns += output
            for call, text in ((first, "one"), (second, "two")):
                result = {"type": "function_call_output", "call_id": call.call_id, "output": text}
                turns.append(result)
            return _create_response(client, **arguments).output_text  # type: ignore[no-any-return]

    def think(self, port: int, model: str, *, stream: bool) -> Thoughtful:
        effort = {"effort": "low", "summary": "auto"}
        send = self._streamed if stream else _create_response
        with self._client(port) as client:
            answer = send(client, model=model, input=QUESTION, reasoning=effort, store=False)
        summaries = [item.summary for item in answer.output if item.type == "reasoning"]
        thoughts = "".join(part.text for summary in summaries for part in summary)
        reasoning = answer.usage.output_tokens_details.reasoning_tokens
        return Thoughtful(thoughts, answer.output_text, reasoning)

    def failure(self, port: int, model: str) -> Failure:
        try:
            self._ask(port, model, QUESTION)
        except openai.APIStatusError as error:
            return _status_failure(error)
        raise AssertionError("no error")

    def read_stream(self, port: int, model: str) -> list[str]:
        with self._client(port) as client:
            stream = client.responses.create(model=model, input=QUESTION, store=False, stream=True)
            return [each.delta for each in stream if each.type == "response.output_text.delta"]


def _create_response(client: openai.OpenAI, **arguments: Any) -> Any:
    return client.responses.create(**arguments)


class MessagesFeatures(Messages):
    failures = _NAMES | {503: "ServiceUnavailableError"}
    broken: tuple[type[Exception], ...] = (anthropic.APIError,)

    def _ask(self, port: int, model: str, content: Any) -> Any:
        with self._client(port) as client:
            return self._send(client, model, [{"role": "user", "content": content}], False)

    def image(self, port: int, model: str) -> str:
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        content = [{"type": "text", "text": QUESTION}, {"type": "image", "source": source}]
        return self._reply(self._ask(port, model, content)).text

    def parse(self, port: int, model: str) -> Any:
        with self._client(port) as client:
            answer = client.messages.parse(
                model=model,
                max_tokens=2000,
                messages=[{"role": "user", "content": QUESTION}],
                output_format=Place,
            )
        return answer.parsed_output

    def two_calls(self, port: int, model: str, *, stream: bool, error: bool) -> str:
        turns: list[Any] = [{"role": "user", "content": QUESTION}]
        with self._client(port) as client:
            content = self._send(client, model, turns, stream, tools=self._tools).content
            first, second = [block for block in content if block.type == "tool_use"]
            results = [
                {"type": "tool_result", "tool_use_id": first.id, "content": "one"},
                {
                    "type": "tool_result",
                    "tool_use_id": second.id,
                    "content": "two",
                    "is_error": error,
                },
            ]
            turns += [
                {"role": "assistant", "content": content},
                {"role": "user", "content": results},
            ]
            return self._reply(self._send(client, model, turns, False, tools=self._tools)).text

    def think(self, port: int, model: str, *, stream: bool) -> Thoughtful:
        turns = [{"role": "user", "content": QUESTION}]
        thinking = {"type": "enabled", "budget_tokens": 1024}
        with self._client(port) as client:
            answer = self._send(client, model, turns, stream, thinking=thinking)
        thoughts = "".join(each.thinking for each in answer.content if each.type == "thinking")
        details = answer.usage.output_tokens_details
        return Thoughtful(thoughts, self._reply(answer).text, details.thinking_tokens)

    def failure(self, port: int, model: str) -> Failure:
        try:
            self._ask(port, model, QUESTION)
        except anthropic.APIStatusError as error:
            return _status_failure(error)
        raise AssertionError("no error")

    def read_stream(self, port: int, model: str) -> list[str]:
        turns: Any = [{"role": "user", "content": QUESTION}]
        with (
            self._client(port) as client,
            client.messages.stream(model=model, max_tokens=2000, messages=turns) as stream,
        ):
            return list(stream.text_stream)


class GenerateContentFeatures(GenerateContent):
    failures = {400: "ClientError", 429: "ClientError", 503: "ServerError"}
    broken: tuple[type[Exception], ...] = (errors.APIError,)

    def image(self, port: int, model: str) -> str:
        image = types.Part.from_bytes(data=base64.b64decode(PIXEL), mime_type="image/png")
        parts = [types.Part(text=QUESTION), image]
        content = types.Content(role="user", parts=parts)
        return self._reply(self._send(port, model, [content], False, None)).text

    def parse(self, port: int, model: str) -> Any:
        config = types.GenerateContentConfig(
            response_mime_type="application/json", response_schema=Place
        )
        [answer] = self._send(port, model, QUESTION, False, config)
        return answer.parsed

    def two_calls(self, port: int, model: str, *, stream: bool, error: bool) -> str:
        contents: list[Any] = [types.Content(role="user", parts=[types.Part(text=QUESTION)])]
        answers = self._send(port, model, contents, stream, self._tools)
        parts = self._parts(answers)
        first, second = [part.function_call for part in parts if part.function_call]
        results = [
            types.FunctionResponse(id=first.id, name=first.name, response={"result": "one"}),
            types.FunctionResponse(
                id=second.id, name=second.name, response={"error" if error else "result": "two"}
            ),
        ]
        contents += [
            types.Content(role="model", parts=parts),
            types.Content(
                role="user", parts=[types.Part(function_response=each) for each in results]
            ),
        ]
        return self._reply(self._send(port, model, contents, False, self._tools)).text

    def think(self, port: int, model: str, *, stream: bool) -> Thoughtful:
        thinking = types.ThinkingConfig(include_thoughts=True, thinking_budget=1024)
        config = types.GenerateContentConfig(thinking_config=thinking)
        answers = self._send(port, model, QUESTION, stream, config)
        thoughts = "".join(part.text for part in self._parts(answers) if part.thought)
        reasoning = answers[-1].usage_metadata.thoughts_token_count
        return Thoughtful(thoughts, self._reply(answers).text, reasoning)

    def failure(self, port: int, model: str) -> Failure:
        try:
            self._send(port, model, QUESTION, False, None)
        except errors.APIError as error:
            header = error.response.headers.get("retry-after")
            return Failure(type(error).__name__, error.code, error.message or "", header)
        raise AssertionError("no error")

    def read_stream(self, port: int, model: str) -> list[str]:
        return [each.text for each in self._send(port, model, QUESTION, True, None) if each.text]


FEATURE_CALLERS: tuple[FeatureCaller, ...] = (
    ChatCompletionsFeatures(),
    ResponsesFeatures(),
    MessagesFeatures(),
    GenerateContentFeatures(),
)

"""The official SDKs as callers of a chat, each with the same three conversations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from anthropic import Anthropic
from google import genai
from google.genai import types
from openai import OpenAI

from tests.support.running import ALL

Json = dict[str, Any]

QUESTION = "What do you see?"
SCHEMA_QUESTION = "Answer in JSON."
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "n": {"type": "number"}},
}


@dataclass(frozen=True)
class Reply:
    """An answer as an SDK shows it: its text, why it ended, and the tokens of its usage."""

    text: str
    stop: str
    input: int
    cached: int
    output: int


@dataclass(frozen=True)
class Turn:
    """A call of a tool, why the answer with it ended, and the text after the tool's result."""

    name: str
    arguments: Any
    stop: str
    final: str


class Caller(Protocol):
    """An SDK. `ends` are its finish reasons by the neutral ones."""

    language: str
    ends: Mapping[str, str]

    def ask(self, port: int, model: str) -> Reply: ...

    def stream(self, port: int, model: str) -> Reply: ...

    def tool_turn(self, port: int, model: str, *, stream: bool) -> Turn: ...

    def of_schema(self, port: int, model: str, schema: Json) -> str:
        """The text of an answer that has to fit a schema."""
        ...


class _OpenAICaller:
    def _client(self, port: int) -> OpenAI:
        return OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key=ALL, max_retries=0)


class ChatCompletions(_OpenAICaller):
    language = "chat_completions"
    ends = {"end": "stop", "tool_calls": "tool_calls"}
    _tools = [{"type": "function", "function": {"name": "look", "parameters": PARAMETERS}}]

    def ask(self, port: int, model: str) -> Reply:
        with self._client(port) as client:
            turns = [{"role": "user", "content": QUESTION}]
            return self._reply(client.chat.completions.create(model=model, messages=turns))

    def _reply(self, answer: Any) -> Reply:
        choice, usage = answer.choices[0], answer.usage
        details = usage.prompt_tokens_details
        cached = details.cached_tokens if details else 0
        return Reply(
            choice.message.content or "",
            choice.finish_reason,
            usage.prompt_tokens,
            cached,
            usage.completion_tokens,
        )

    def _streamed(self, client: OpenAI, **arguments: Any) -> Any:
        options = {"include_usage": True}
        with client.chat.completions.stream(stream_options=options, **arguments) as stream:
            return stream.get_final_completion()

    def stream(self, port: int, model: str) -> Reply:
        with self._client(port) as client:
            turns = [{"role": "user", "content": QUESTION}]
            return self._reply(self._streamed(client, model=model, messages=turns))

    def tool_turn(self, port: int, model: str, *, stream: bool) -> Turn:
        turns: list[Any] = [{"role": "user", "content": QUESTION}]
        with self._client(port) as client:
            arguments = {"model": model, "messages": turns, "tools": self._tools}
            if stream:
                answer = self._streamed(client, **arguments)
            else:
                answer = client.chat.completions.create(**arguments)
            message = answer.choices[0].message
            [call] = message.tool_calls
            turns += [message, {"role": "tool", "tool_call_id": call.id, "content": "a cat"}]
            final = client.chat.completions.create(**arguments).choices[0].message.content
        function = call.function
        stop = answer.choices[0].finish_reason
        return Turn(function.name, json.loads(function.arguments), stop, final)

    def of_schema(self, port: int, model: str, schema: Json) -> str:
        form: Any = {"name": "answer", "strict": True, "schema": schema}
        with self._client(port) as client:
            answer = client.chat.completions.create(
                model=model,
                messages=[{"role": "user", "content": SCHEMA_QUESTION}],
                response_format={"type": "json_schema", "json_schema": form},
            )
        return answer.choices[0].message.content or ""


class Responses(_OpenAICaller):
    language = "responses"
    ends = {"end": "completed", "tool_calls": "completed"}
    _tools = [{"type": "function", "name": "look", "parameters": PARAMETERS, "strict": False}]

    def ask(self, port: int, model: str) -> Reply:
        with self._client(port) as client:
            return self._reply(client.responses.create(model=model, input=QUESTION, store=False))

    def _reply(self, answer: Any) -> Reply:
        usage = answer.usage
        cached = usage.input_tokens_details.cached_tokens
        return Reply(
            answer.output_text, answer.status, usage.input_tokens, cached, usage.output_tokens
        )

    def _streamed(self, client: OpenAI, **arguments: Any) -> Any:
        with client.responses.stream(**arguments) as stream:
            return stream.get_final_response()

    def stream(self, port: int, model: str) -> Reply:
        with self._client(port) as client:
            return self._reply(self._streamed(client, model=model, input=QUESTION, store=False))

    def tool_turn(self, port: int, model: str, *, stream: bool) -> Turn:
        turns: list[Any] = [{"role": "user", "content": QUESTION}]
        with self._client(port) as client:
            arguments: dict[str, Any] = {
                "model": model,
                "input": turns,
                "tools": self._tools,
                "store": False,
                "include": ["reasoning.encrypted_content"],
            }
            send = (
                (lambda: self._streamed(client, **arguments))
                if stream
                else (lambda: client.responses.create(**arguments))
            )
            answer = send()
            [call] = [item for item in answer.output if item.type == "function_call"]
            result = {"type": "function_call_output", "call_id": call.call_id, "output": "a cat"}
            turns += [*answer.output, result]
            final = client.responses.create(**arguments).output_text
        return Turn(call.name, json.loads(call.arguments), answer.status, final)

    def of_schema(self, port: int, model: str, schema: Json) -> str:
        form: Any = {"type": "json_schema", "name": "answer", "strict": True, "schema": schema}
        with self._client(port) as client:
            arguments: Any = {"input": SCHEMA_QUESTION, "store": False, "text": {"format": form}}
            return client.responses.create(model=model, **arguments).output_text


class Messages:
    language = "messages"
    ends = {"end": "end_turn", "tool_calls": "tool_use"}
    _tools = [{"name": "look", "input_schema": PARAMETERS}]

    def _client(self, port: int) -> Anthropic:
        return Anthropic(base_url=f"http://127.0.0.1:{port}", api_key=ALL, max_retries=0)

    def _send(self, client: Anthropic, model: str, turns: Any, stream: bool, **more: Any) -> Any:
        arguments = {"model": model, "max_tokens": 2000, "messages": turns, **more}
        if not stream:
            return client.messages.create(**arguments)
        with client.messages.stream(**arguments) as streaming:
            return streaming.get_final_message()

    def _reply(self, answer: Any) -> Reply:
        usage = answer.usage
        cached = usage.cache_read_input_tokens or 0
        text = "".join(block.text for block in answer.content if block.type == "text")
        return Reply(
            text, answer.stop_reason, usage.input_tokens + cached, cached, usage.output_tokens
        )

    def ask(self, port: int, model: str) -> Reply:
        with self._client(port) as client:
            return self._reply(
                self._send(client, model, [{"role": "user", "content": QUESTION}], False)
            )

    def stream(self, port: int, model: str) -> Reply:
        with self._client(port) as client:
            return self._reply(
                self._send(client, model, [{"role": "user", "content": QUESTION}], True)
            )

    def tool_turn(self, port: int, model: str, *, stream: bool) -> Turn:
        turns: list[Any] = [{"role": "user", "content": QUESTION}]
        with self._client(port) as client:
            answer = self._send(client, model, turns, stream, tools=self._tools)
            [call] = [block for block in answer.content if block.type == "tool_use"]
            result = {"type": "tool_result", "tool_use_id": call.id, "content": "a cat"}
            turns += [
                {"role": "assistant", "content": answer.content},
                {"role": "user", "content": [result]},
            ]
            final = self._reply(self._send(client, model, turns, False, tools=self._tools)).text
        return Turn(call.name, call.input, answer.stop_reason, final)

    def of_schema(self, port: int, model: str, schema: Json) -> str:
        config = {"format": {"type": "json_schema", "schema": schema}}
        turns = [{"role": "user", "content": SCHEMA_QUESTION}]
        with self._client(port) as client:
            return self._reply(self._send(client, model, turns, False, output_config=config)).text


class GenerateContent:
    language = "generate_content"
    ends = {"end": "STOP", "tool_calls": "STOP"}
    _look = types.FunctionDeclaration(name="look", parameters_json_schema=PARAMETERS)
    _tools = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[_look])],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )

    def _client(self, port: int) -> genai.Client:
        options = types.HttpOptions(base_url=f"http://127.0.0.1:{port}", api_version="v1beta")
        return genai.Client(api_key=ALL, http_options=options)

    def _send(self, port: int, model: str, contents: Any, stream: bool, config: Any) -> list[Any]:
        client = self._client(port)
        if not stream:
            return [client.models.generate_content(model=model, contents=contents, config=config)]
        streaming = client.models.generate_content_stream(
            model=model, contents=contents, config=config
        )
        return list(streaming)

    def _reply(self, answers: list[Any]) -> Reply:
        text = "".join(answer.text or "" for answer in answers)
        stop = answers[-1].candidates[0].finish_reason.value
        usage = answers[-1].usage_metadata
        return Reply(
            text,
            stop,
            usage.prompt_token_count,
            usage.cached_content_token_count or 0,
            usage.candidates_token_count + (usage.thoughts_token_count or 0),
        )

    def _parts(self, answers: list[Any]) -> list[Any]:
        """The parts of an answer, or of the pieces of a stream."""
        contents = [answer.candidates[0].content for answer in answers if answer.candidates]
        return [part for content in contents for part in content.parts or []]

    def ask(self, port: int, model: str) -> Reply:
        return self._reply(self._send(port, model, QUESTION, False, None))

    def stream(self, port: int, model: str) -> Reply:
        return self._reply(self._send(port, model, QUESTION, True, None))

    def tool_turn(self, port: int, model: str, *, stream: bool) -> Turn:
        contents: list[Any] = [types.Content(role="user", parts=[types.Part(text=QUESTION)])]
        answers = self._send(port, model, contents, stream, self._tools)
        parts = self._parts(answers)
        [call] = [part.function_call for part in parts if part.function_call]
        result = types.FunctionResponse(id=call.id, name=call.name, response={"result": "a cat"})
        contents += [
            types.Content(role="model", parts=parts),
            types.Content(role="user", parts=[types.Part(function_response=result)]),
        ]
        final = self._reply(self._send(port, model, contents, False, self._tools)).text
        stop = answers[-1].candidates[0].finish_reason.value
        return Turn(call.name, call.args, stop, final)

    def of_schema(self, port: int, model: str, schema: Json) -> str:
        config = types.GenerateContentConfig(
            response_mime_type="application/json", response_json_schema=schema
        )
        return self._reply(self._send(port, model, SCHEMA_QUESTION, False, config)).text


CALLERS: tuple[Caller, ...] = (ChatCompletions(), Responses(), Messages(), GenerateContent())

"""An answer in one piece before a guard. A large one is read, and written again, in other
processes: of its texts only those of one question are in this one.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import IO

import orjson

from engine.dialects.interface.usage import OutputMembers
from engine.exchange.exchange import Exchange, Response
from engine.guardrails.contract import TextPart
from engine.guardrails.guard import Guard, Replacements, batches, join_parts
from engine.guardrails.settings import RESPONSE, unjudged_error
from engine.guardrails.texts import answer_texts
from engine.process.child_process import ChildFailed
from engine.process.loop_turn import paced
from engine.relay.held_body import HeldBody, close_aside, file_pieces, write_all
from engine.relay.response_headers import STALE_HEADERS
from engine.values.json_edit import apply_edits, edits
from engine.values.json_pointer import pointer
from engine.values.json_spans import JsonPath

MAX_ANSWER = 32_000_000
"""Bytes of an answer in one piece that can be judged."""

_TOO_LARGE = f"the answer has over {MAX_ANSWER} bytes"


class WholeAnswer:
    """The answer to one request, with this Content-Encoding. `output` are the members of output of
    its dialect, None if it counts none."""

    def __init__(
        self, guard: Guard, exchange: Exchange, encoding: str, output: OutputMembers | None
    ) -> None:
        self._guard, self._exchange = guard, exchange
        self._encoding, self._output = encoding, output
        self._body = HeldBody(encoding)

    def judge(self, response: Response) -> None:
        """Let the response have the body after the guard. Raises GatewayError 403 and 503."""
        body = response.body
        if self._guard.settings.reports and not isinstance(body, bytes):
            response.body = self._observe(body)
            return
        try:
            rest = self._collect(iter([body] if isinstance(body, bytes) else body))
            new_body = None if rest is not None else self._judge_texts()
        except BaseException:
            self._body.close()
            raise
        if new_body is not None:
            self._body.close()
            response.headers = [pair for pair in response.headers if pair[0] not in STALE_HEADERS]
            response.body = new_body
        elif rest is not None:
            response.body = chain(self._body.pieces(), rest)
        else:
            response.body = self._body.pieces() if self._body.is_large else self._body.take()

    def _collect(self, pieces: Iterator[bytes]) -> Iterator[bytes] | None:
        """Hold the body; the rest of one that has over MAX_ANSWER bytes."""
        for piece in pieces:
            try:
                self._body.add(piece)
            except OSError as error:
                self._fail(f"it cannot be held: {error.strerror}")
                return chain([piece], pieces)
            if self._body.size > MAX_ANSWER:
                self._fail(_TOO_LARGE)
                return pieces
        return None

    def _observe(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The pieces as they arrive; the whole is reported at its end."""
        is_held = True
        try:
            for piece in pieces:
                is_held = is_held and self._collect(iter([piece])) is None
                yield piece
            if is_held:
                self._judge_texts()
        finally:
            self._body.close()

    def _fail(self, reason: str) -> None:
        self._guard.fail(self._exchange, RESPONSE, reason)

    def _judge_texts(self) -> bytes | Iterator[bytes] | None:
        """The body after the guard, None for no change."""
        if self._body.is_large:
            try:
                return self._judge_aside()
            except (OSError, ChildFailed) as error:
                self._fail(f"the process for it {error}")
                return None
        text = self._body.decode_copy()
        if text is None:
            self._fail(self._undecodable)
            return None
        texts, chunk = answer_strings(text, self._output), self._guard.settings.chunk
        changes = self._guard.ask(self._exchange, RESPONSE, batches(texts, chunk))
        new = join_parts(texts, changes, chunk)
        return rewrite(text, self._output, new) if new else None

    @property
    def _undecodable(self) -> str:
        return f"its Content-Encoding '{self._encoding}' cannot be decoded"

    def _judge_aside(self) -> Iterator[bytes] | None:
        """As `_judge_texts`. Raises OSError and ChildFailed."""
        is_read, questions = self._body.aside(self._write_questions)
        if not is_read:
            close_aside(questions)
            self._fail(self._undecodable)
            return None
        changes = self._guard.ask(self._exchange, RESPONSE, _read_questions(questions))
        if not changes:
            return None
        try:
            has_changed, file = self._body.aside(partial(self._write_answer, changes))
        except (OSError, ChildFailed) as error:
            self._fail(f"the process for it {error}")
            raise unjudged_error(RESPONSE) from error  # what is to be replaced never passes
        if not has_changed:
            close_aside(file)
            return None
        return file_pieces(file)

    def _write_questions(self, file: IO[bytes]) -> bool:
        """In another process: write the questions, one a line. Whether the text can be read."""
        text = self._body.decode_copy()
        if text is None:
            return False
        texts = answer_strings(text, self._output)
        for batch in batches(texts, self._guard.settings.chunk):
            write_all(file, orjson.dumps([tuple(part) for part in batch]) + b"\n")
        return True

    def _write_answer(self, changes: Replacements, file: IO[bytes]) -> bool:
        """In another process: write the answer with the changes. Whether it is another one."""
        text = self._body.decode_copy()
        assert text is not None
        texts = answer_strings(text, self._output)
        new = join_parts(texts, changes, self._guard.settings.chunk)
        if new:
            write_all(file, rewrite(text, self._output, new))
        return bool(new)


def _read_questions(file: IO[bytes]) -> Iterator[list[TextPart]]:
    """The questions of a file, one after the other. It is closed at their end."""
    assert isinstance(file, io.FileIO)
    try:
        for line in io.BufferedReader(file):
            yield [TextPart(*part) for part in paced(orjson.loads(line))]
    finally:
        close_aside(file)


def answer_strings(text: bytes, output: OutputMembers | None) -> dict[str, str]:
    """The texts of an answer by their pointers: those of JSON, or the whole of any other."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        plain = text.decode("utf-8", "replace")
        return {"": plain} if plain else {}
    texts = answer_texts(value, output)
    return {pointer(map(str, path)): string for path, string in texts.items()}


def rewrite(text: bytes, output: OutputMembers | None, new: dict[str, str]) -> bytes:
    """An answer with new texts in the places of others."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return new[""].encode()
    changes: dict[JsonPath, bytes | None] = {}
    for path in answer_texts(value, output):
        if (string := new.get(pointer(map(str, path)))) is not None:
            changes[path] = orjson.dumps(string)
    return apply_edits(text, edits(text, changes))

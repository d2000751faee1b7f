"""Counts tokens by the file of a model's own tokenizer, `tokenizer.json` of Hugging Face.

The library `tokenizers` reads it: it is the one that model servers use, and an extra, because it
brings others with it. A tokenizer is loaded once per machine: the master does it before it starts
its workers, which share its memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import Any
from weakref import WeakValueDictionary

from engine.process.computation import in_native_thread

MAX_FILE = 128_000_000
"""Bytes of a file. The largest of published models has 35 MB."""

MAX_TEXT = 4_000_000
"""Characters that are counted one by one, some seconds of computing; what is longer has as many
tokens for each character as these."""

PIECE = 32_768
"""Characters of a text that are counted at once. Time and memory may grow with the square of the
length of a text without a space; a cut adds one token at most."""

_INLINE = 2_000
"""Characters that take less time than another thread would."""

_PIECES = 4
"""Pieces that are counted by one call, some hundredths of a second: a text of others that waits for
the thread is counted after it, not after the whole of a long one."""

_PREFIX = "Cannot instantiate Tokenizer from buffer: "
"""The beginning of the library's errors."""

_Encode = Callable[[Sequence[str]], Sequence[Sequence[object]]]


class UnusableTokenizer(Exception):
    """A file cannot be used; `str` says why, without the name of the file."""


class Tokenizer:
    """A tokenizer whose file is loaded. `encode` turns texts into their tokens; it is a function of
    C that frees the interpreter."""

    __slots__ = ("__weakref__", "_encode")

    def __init__(self, encode: _Encode) -> None:
        self._encode = encode

    def count(self, texts: Sequence[str]) -> int:
        """The tokens of texts, without any that mark a beginning or an end. Long ones are counted
        in a thread, while the event loop of this one goes on."""
        size = sum(map(len, texts))
        if size <= _INLINE:
            return self._tokens(texts)
        length = min(size, MAX_TEXT)
        pieces = _pieces(texts, length)
        tokens = 0
        while batch := list(islice(pieces, _PIECES)):
            tokens += in_native_thread(partial(self._tokens, batch))
        return tokens * size // length

    def _tokens(self, texts: Sequence[str]) -> int:
        return sum(map(len, self._encode(texts)))


_tokenizers: WeakValueDictionary[str, Tokenizer] = WeakValueDictionary()
"""Those in use, by the digest of their file: a reload does not read the same one again."""


def is_installed() -> bool:
    """Whether the library is."""
    return find_spec("tokenizers") is not None


def load(data: bytes) -> Tokenizer:
    """The tokenizer of a file with these bytes. Raises UnusableTokenizer."""
    if len(data) > MAX_FILE:
        raise UnusableTokenizer(f"it has over {MAX_FILE // 1_000_000} MB")
    digest = sha256(data).hexdigest()
    tokenizer = _tokenizers.get(digest)
    return _tokenizers.setdefault(digest, _load(data)) if tokenizer is None else tokenizer


def _load(data: bytes) -> Tokenizer:
    # The threads of its own pool would not exist in a worker, which is a fork; and one core is what
    # a request may take.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    library: Any = import_module("tokenizers")
    try:
        tokenizer = library.Tokenizer.from_buffer(data)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_batch_fast(["a"], add_special_tokens=False)
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            reason = str(error).removeprefix(_PREFIX).rstrip(".")
            raise UnusableTokenizer(reason) from error
        raise

    def encode(texts: Sequence[str]) -> Sequence[Sequence[object]]:
        encodings: Sequence[Sequence[object]] = tokenizer.encode_batch_fast(
            texts, add_special_tokens=False
        )
        return encodings

    return Tokenizer(encode)


def _pieces(texts: Sequence[str], length: int) -> Iterator[str]:
    """The first `length` characters of the texts, in pieces."""
    for text in texts:
        text = text[:length]
        length -= len(text)
        for start in range(0, len(text), PIECE):
            yield text[start : start + PIECE]

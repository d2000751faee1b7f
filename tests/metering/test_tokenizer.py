"""Tokens counted by a tokenizer file."""

import json
import threading

import gevent
import pytest

from engine.metering import tokenizer
from engine.metering.tokenizer import (
    MAX_FILE,
    MAX_TEXT,
    PIECE,
    Tokenizer,
    UnusableTokenizer,
    load,
)
from tests.support.small_tokenizer import tokenizer_file


@pytest.fixture(scope="module")
def words():
    return load(tokenizer_file())


def test_each_text_is_counted(words):
    assert words.count(["one two", "", "three, four"]) == 5


def test_the_truncation_of_the_file_is_for_training(words):
    assert words.count(["one " * 100]) == 100


@pytest.mark.keeps("the thread of the process's event loop")
def test_a_long_text_is_counted_in_another_thread():
    threads = []

    def encode(texts):
        threads.append(threading.get_ident())
        return [text.split() for text in texts]

    assert Tokenizer(encode).count(["one " * 2_000]) == 2_000
    assert threading.get_ident() not in threads


@pytest.mark.keeps("the thread of the process's event loop")
def test_a_long_text_is_counted_in_pieces():
    lengths = []

    def encode(texts):
        lengths.extend(map(len, texts))
        return texts  # a token for each character

    assert Tokenizer(encode).count(["x" * (PIECE + 1), "y"]) == PIECE + 2
    assert lengths == [PIECE, 1, 1]


@pytest.mark.keeps("the thread of the process's event loop")
def test_a_text_does_not_wait_for_the_whole_of_a_longer_one():
    letters = []

    def encode(texts):
        letters.extend(text[0] for text in texts)
        return texts

    counts = [gevent.spawn(Tokenizer(encode).count, [text * 9 * PIECE]) for text in "xy"]
    gevent.joinall(counts, raise_error=True)
    assert "".join(letters).index("y") < 9


@pytest.mark.keeps("the thread of the process's event loop")
def test_what_is_over_the_limit_is_counted_by_the_rest():
    lengths = []

    def encode(texts):
        lengths.extend(map(len, texts))
        return [text[::2] for text in texts]

    assert Tokenizer(encode).count(["x" * MAX_TEXT * 3]) == MAX_TEXT * 3 // 2
    assert sum(lengths) == MAX_TEXT


def test_a_file_in_use_is_loaded_once(words):
    assert load(tokenizer_file()) is words


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"\xff\x00", b"[1]", json.dumps({"model": {"type": "BPE"}}).encode()]
)
def test_what_is_no_tokenizer_is_refused(data):
    with pytest.raises(UnusableTokenizer, match=r"^(?!Cannot instantiate).* at line"):
        load(data)


def test_a_file_without_words_is_refused():
    document = json.loads(tokenizer_file())
    document["model"]["unk_token"] = "missing"
    with pytest.raises(UnusableTokenizer):
        load(json.dumps(document).encode())


def test_too_large_a_file_is_refused(monkeypatch):
    monkeypatch.setattr(tokenizer, "MAX_FILE", 10)
    with pytest.raises(UnusableTokenizer, match="over 0 MB"):
        load(tokenizer_file())
    assert MAX_FILE > 35_000_000

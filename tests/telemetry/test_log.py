"""The gateway's own log: a line for each record, whatever it says, and no secret."""

import json
import logging
import re

from engine.telemetry.log import Format, Handler


def written(words, *values, text=False, redact=str, error=None):
    lines = []
    handler = Handler(lines.append, Format(text, redact))
    info = (type(error), error, None) if error is not None else None
    handler.handle(logging.LogRecord("modelway", logging.ERROR, "f", 1, words, values, info))
    (line,) = lines
    assert re.fullmatch(rb"[ -~]+\n", line)
    return line


def test_a_record_is_an_object():
    row = json.loads(written("%s is away", "one"))
    assert (row["level"], row["logger"], row["message"]) == ("error", "modelway", "one is away")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", row["time"])


def test_nothing_ends_the_line_before_its_end():
    assert (
        json.loads(written("a\nb\x1b[31m\x7f\u2028\x9b"))["message"] == "a\nb\x1b[31m\x7f\u2028\x9b"
    )
    assert b"a\\nb\\u001b[31m" in written("a\nb\x1b[31m", text=True)


def test_an_exception_comes_with_it():
    row = json.loads(written("it failed", error=ValueError("why")))
    assert "ValueError: why" in row["exception"]
    assert b"ValueError: why" in written("it failed", text=True, error=ValueError("why"))


def test_secrets_are_put_back_to_what_the_config_says():
    def redact(words):
        return words.replace("hunter2", "${PASSWORD}")

    line = written("no %s", "hunter2", redact=redact, error=ValueError("hunter2"))
    assert b"hunter2" not in line
    assert line.count(b"${PASSWORD}") == 2

"""Each record of the gateway's log is one line without secrets."""

import json
import logging
import re

from engine.telemetry.log import LineFormatter, LineHandler


def line_of(message, *values, text=False, redact=str, error=None):
    lines = []
    handler = LineHandler(lines.append, LineFormatter(text, redact))
    info = (type(error), error, None) if error is not None else None
    handler.handle(logging.LogRecord("modelway", logging.ERROR, "f", 1, message, values, info))
    (line,) = lines
    assert re.fullmatch(rb"[ -~]+\n", line)
    return line


def test_a_record_is_a_json_object():
    row = json.loads(line_of("%s is away", "one"))
    assert (row["level"], row["logger"], row["message"]) == ("error", "modelway", "one is away")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", row["time"])


def test_control_characters_are_escaped():
    assert (
        json.loads(line_of("a\nb\x1b[31m\x7f\u2028\x9b"))["message"] == "a\nb\x1b[31m\x7f\u2028\x9b"
    )
    assert b"a\\nb\\u001b[31m" in line_of("a\nb\x1b[31m", text=True)


def test_a_record_has_its_exception():
    row = json.loads(line_of("it failed", error=ValueError("why")))
    assert "ValueError: why" in row["exception"]
    assert b"ValueError: why" in line_of("it failed", text=True, error=ValueError("why"))


def test_secrets_are_redacted():
    def redact(words):
        return words.replace("hunter2", "${PASSWORD}")

    line = line_of("no %s", "hunter2", redact=redact, error=ValueError("hunter2"))
    assert b"hunter2" not in line
    assert line.count(b"${PASSWORD}") == 2

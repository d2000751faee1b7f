"""The requests of a batch: found, judged, and written for the vendor."""

import json

import orjson
import pytest

from engine.dialects.anthropic.files import BATCHES as IN_A_BODY
from engine.dialects.gemini.files import BATCHES as WITHOUT_NAMES
from engine.dialects.gemini.proto_json import json_name
from engine.dialects.openai.files import BATCHES as IN_LINES
from engine.exchange.opened_ids import Batch
from engine.exchange.spooled_body import spool
from engine.objects.batches.batch_requests import (
    MAX_PROBLEMS,
    BatchWriter,
    VendorRequest,
    refuse_repeats,
)
from engine.values.errors import GatewayError
from engine.values.json_spans import Ambiguous
from tests.support.each import each


def line(name="a", **changes):
    entry = {"custom_id": name, "method": "POST", "url": "/v1/chat", "body": {"model": "m"}}
    return {**entry, **changes}


def rename(request, batch):
    """A judge that knows the models m and wrong."""
    body = orjson.loads(request.body)
    if body["model"] not in ("m", "wrong", "same"):
        raise GatewayError(403, "model_not_allowed", "No such model.", param="model")
    fault = GatewayError(400, "invalid_type", "It is wrong.", param="model")
    if body["model"] == "m":
        body["model"] = "vendor-m"
    is_wrong = body["model"] == "wrong"
    return VendorRequest("/v1/chat", orjson.dumps(body), fault if is_wrong else None)


def writer(form=IN_LINES, judge=rename, names=None, **options):
    return BatchWriter(form, Batch(("u",)), judge, lambda: None, names, **options)


def written(*lines, before=b"", after=b"", **options):
    text = b"\n".join(each if isinstance(each, bytes) else orjson.dumps(each) for each in lines)
    buffer = before + text + after
    pieces = writer(**options).lines(buffer, len(before), len(before) + len(text))
    return b"".join(pieces)


def refusal(*lines, **options):
    with pytest.raises(GatewayError) as raised:
        written(*lines, **options)
    assert raised.value.status == 400
    return raised.value


def test_a_file_is_written_with_what_is_around_it():
    spaced = json.dumps(line("b", body={"model": "same"}), indent=None).encode()
    text = written(line("a"), b"", spaced, before=b"--x\r\n\r\n", after=b"\n--x--")
    first, rest = text.split(b"\n\n", 1)
    assert first.startswith(b"--x\r\n\r\n")
    assert b'"model":"vendor-m"' in first
    assert rest == spaced + b"\n--x--"


@each(
    ("entry", "param"),
    [
        (b"{", "line 2"),
        (b"7", "line 2"),
        (b'{"custom_id": "b", "custom_id": "c"}', "line 2"),
        (line(""), "line 2.custom_id"),
        (line("a"), "line 2.custom_id"),
        (line("b", custom_id=3), "line 2.custom_id"),
        (line("b", method="GET"), "line 2.method"),
        (line("b", url="v1/chat"), "line 2.url"),
        (line("b", url=None), "line 2.url"),
        (line("b", body=[]), "line 2.body"),
        (line("b", body={"model": "x"}), "line 2.body.model"),
        (line("b", body={"model": "wrong"}), "line 2.body.model"),
    ],
)
def test_a_line_that_cannot_be_made_has_its_place(entry, param):
    assert refusal(line("a"), entry).param == param


def test_all_problems_come_at_once_up_to_a_bound():
    error = refusal(*[line(f"r{n}", body={"model": "x"}) for n in range(MAX_PROBLEMS + 5)])
    assert error.message.count("No such model.") == MAX_PROBLEMS
    assert error.message.endswith("There may be more.")
    assert "Line 1 (custom_id 'r0', body.model)" in error.message


@pytest.mark.parametrize(
    "blanks", [b"\n" * 300_000, b" \r\n" * 100_000, b"\n \n  ", b"\t\n" * 40_000]
)
def test_blank_lines_pass_many_at_once_and_are_counted(blanks):
    text = orjson.dumps(line("a", body={"model": "same"})) + b"\n" + blanks
    pieces = []
    buffer = text + b" {"
    with pytest.raises(GatewayError) as raised:
        pieces.extend(writer().lines(buffer, 0, len(buffer)))
    assert raised.value.param == f"line {text.count(bytes([10])) + 1}"
    assert len(pieces) <= 6 + len(blanks) // 60_000
    end = orjson.dumps(line("b", body={"model": "same"}))
    assert written(text + end) == text + end
    assert written(text) == text


class Searched(bytes):
    """Bytes that count how often they were searched."""

    count = 0

    def find(self, *arguments):
        self.count += 1
        return super().find(*arguments)


def test_a_long_line_of_blanks_is_passed_in_pieces_without_a_search_for_each():
    buffer = Searched(orjson.dumps(line("a", body={"model": "same"})) + b"\n" + b" " * 1_000_000)
    assert b"".join(writer().lines(buffer, 0, len(buffer))) == buffer
    assert buffer.count == 1


def test_a_batch_without_requests_is_refused():
    assert "no requests" in refusal(b"\n").message


def test_faults_are_reported_and_what_is_not_allowed_is_refused():
    reporting = writer(reports=True)
    text = orjson.dumps(line("a", body={"model": "wrong"}))
    assert b"".join(reporting.lines(text, 0, len(text))) == text
    batch = reporting.batch
    assert (batch.size, batch.report_count) == (1, 1)
    assert batch.reports == ["Line 1 (custom_id 'a', body.model): It is wrong."]
    assert refusal(line("a", body={"model": "x"}), reports=True).code == "model_not_allowed"


def test_an_error_of_the_gateway_is_no_problem_of_the_batch():
    def fail(request, batch):
        raise GatewayError(503, "away", "Not now.")

    with pytest.raises(GatewayError) as raised:
        written(line("a"), judge=fail)
    assert raised.value.status == 503


def test_requests_in_a_body_are_written_in_it():
    models = {"a": "m", "b": "same"}
    requests = [{"custom_id": name, "params": {"model": m}} for name, m in models.items()]
    value = {"requests": requests}
    text = json.dumps(value).encode()
    new = writer(IN_A_BODY).body(text, value)
    assert new == text.replace(b'{"model": "m"}', b'{"model":"vendor-m"}')


def test_a_body_names_the_index():
    value = {"requests": [{"custom_id": "a", "params": {"model": "x"}}]}
    with pytest.raises(GatewayError) as raised:
        writer(IN_A_BODY).body(orjson.dumps(value), value)
    assert raised.value.param == "requests[0].params.model"


def test_members_have_two_spellings_where_their_api_has():
    entries = [{"request": {"model": "m"}}, {"request": {"model": "m"}}]
    value = {"batch": {"input_config": {"requests": {"requests": entries}}}}
    new = writer(WITHOUT_NAMES, names=json_name).body(orjson.dumps(value), value)
    assert new.count(b"vendor-m") == 2


def test_a_body_that_repeats_a_name_is_refused():
    with pytest.raises(GatewayError, match="repeated name"):
        writer(IN_A_BODY).body(b'{"requests": [], "requests": []}', {"requests": []})


@each("text", [b'{"a": {"b" : 1}}', b'["\\": ", {"a": "\\":"}]', b'{"a": [{"a": 1}]}'])
def test_names_that_differ_are_no_repeats(text):
    refuse_repeats(text, orjson.loads(text))


@each("text", [b'{"a": 1, "a": 2}', b'[{"b": {"a": 1, "\\u0061": 2}}]'])
def test_repeats_are_found(text):
    with pytest.raises(Ambiguous):
        refuse_repeats(text, orjson.loads(text))


def test_a_file_on_disk_is_read_as_one_in_memory():
    text = b"".join(orjson.dumps(line(f"r{n}", note="x" * 1000)) + b"\n" for n in range(3_000))
    body = spool([b"head", text, b"tail"])
    pieces = writer().lines(body.buffer, 4, 4 + len(text))
    assert b"".join(pieces) == b"head" + text.replace(b'"m"', b'"vendor-m"') + b"tail"
    body.close()

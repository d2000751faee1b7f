"""Reading YAML and JSON with the place of every value."""

import json
import subprocess
import sys

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from engine.source import reader
from engine.source.files import read_text, record_reads
from engine.source.reader import read, read_file
from tests.support.each import each
from tests.support.reading import expand_variables, problems_of, value_of


@each("bad", ["\0", "\x07", "\x7f", "\x1b"])
def test_a_control_character_is_a_problem_at_its_place(bad):
    assert [(line, column) for line, column, _, _ in problems_of(f"a: 1\nbc: x{bad}\n")] == [(2, 6)]


@each(
    ("path", "value_place", "key_place"),
    [
        ((), (2, 1), (2, 1)),
        (("a",), (2, 4), (2, 1)),
        (("b",), (4, 3), (3, 1)),
        (("b", "c"), (4, 6), (4, 3)),
        (("b", "d"), (6, 5), (5, 3)),
        (("b", "d", 1), (7, 7), (7, 7)),
        (("b", "d", 1, "e"), (7, 10), (7, 7)),
        (("f", "200"), (8, 10), (8, 5)),
        (("b", "nowhere", "x"), (4, 3), (4, 3)),
    ],
)
def test_every_value_and_key_has_its_place(path, value_place, key_place):
    text = "# head\na: 1\nb:\n  c: x\n  d:\n    - y\n    - e: z\nf: {200: ok}\n"
    for expand in (None, expand_variables):
        marked = read(text, "f", expand)
        assert marked.place(path) == value_place
        if path[-1:] != ("x",):
            assert marked.place(path, key=True) == key_place


def test_the_place_of_a_merged_value_is_where_it_is_written():
    marked = read("base: &b\n  x: 1\nuse:\n  <<: *b\n  y: 2\n", "f")
    assert marked.value["use"] == {"x": 1, "y": 2}
    assert marked.place(("use", "x")) == (2, 6)


def test_redaction_restores_references():
    marked = read("a: ${A}\nb: 'x${A}y'\nc: plain\n", "f", expand_variables)
    assert marked.redact("'filled' and 'xfilledy' and plain") == "'${A}' and 'x${A}y' and plain"


def test_json_is_read_as_json():
    text = '{"a": [1, 2.5, null, true, "on"], "2027-01-31": "\\ud83d\\ude00\\/"}'
    assert value_of(text) == json.loads(text)


@each(
    "text",
    [
        '{\n  "a": "\\ud83d\\ude00",\n  "b": 1\n}',
        '{\n  "a": "x\\/y",\n  "b": 1\n}',
        '{\n\t"a":\t"\t".\n\t"b": 1\n}'.replace('"\t".', '"t",'),
        '{\n  "a": "\x7f",\n  "b": 1\n}',
        '{\n  "%s": 1,\n  "b": 1\n}' % ("k" * 2000),
        '{"a": {},\n\n  "b":1}',
    ],
    ids=["surrogate pair", "escaped slash", "tabs", "delete", "long key", "no space"],
)
def test_every_value_of_valid_json_has_its_place(text):
    marked = read(text, "f")
    assert (marked.problems, marked.value["b"]) == ([], 1)
    assert marked.place(("b",), key=True)[0] == 3


def test_a_repeated_key_in_json_is_a_problem_at_its_place():
    assert problems_of('{"x": 1,\n "y": {"a": 1,\n  "a": 2}}')[0][:3] == (3, 3, "MW003")


@each("text", ["", "# nothing\n", "---\n", "null"])
def test_an_empty_file_has_no_value_and_no_problem(text):
    marked = read(text, "f")
    assert (marked.value, marked.problems, marked.place(("a",))) == (None, [], marked.place(()))


def test_a_file_is_read_as_utf_8_with_or_without_a_byte_order_mark(tmp_path):
    file = tmp_path / "f.yaml"
    for head in (b"", b"\xef\xbb\xbf"):
        file.write_bytes(head + "a: mödel".encode())
        assert read_file(file, "f").value == {"a": "mödel"}


def test_a_file_that_cannot_be_read_is_a_problem_of_the_file_as_a_whole(tmp_path):
    (tmp_path / "latin").write_bytes("a: é".encode("latin-1"))
    (tmp_path / "folder").mkdir()
    for name in ("latin", "folder", "missing"):
        problems = read_file(tmp_path / name, "shown").problems
        assert [(p.file, p.line, p.code) for p in problems] == [("shown", 0, "MW002")]


def test_text_of_another_encoding_has_its_line(tmp_path):
    (tmp_path / "latin").write_bytes("a: 1\nb: é".encode("latin-1"))
    problem = read_file(tmp_path / "latin", "shown").problems[0]
    assert problem.message == "not UTF-8 text: byte 0xe9 in line 2"
    assert problem.hint == "save it as UTF-8 in your editor"


PLAIN = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**9), 10**9),
        st.text(alphabet="abc 0.:-#'\"{}[]&*!|>%@`~\n", max_size=8),
        st.sampled_from(["on", "no", "2027-01-31", "1_0", "0o7", "null", "1e3", "<<", "="]),
    ),
    lambda below: st.one_of(
        st.lists(below, max_size=3),
        st.dictionaries(st.text(alphabet="abcxyz", min_size=1, max_size=3), below, max_size=3),
    ),
    max_leaves=10,
)


@given(PLAIN)
def test_json_is_read_the_same_as_yaml_and_as_json(document):
    text = json.dumps(document)
    assert value_of(text) == document
    assert value_of(f"# yaml\n{text}") == document
    assert value_of(text, lambda plain: plain) == document


@given(PLAIN)
def test_quoted_strings_stay_strings(document):
    text = yaml.safe_dump({"a": document}, default_style='"', allow_unicode=True)
    if isinstance(document, str):
        assert value_of(text) == {"a": document}


@given(st.text(alphabet="ab:-[]{},#&*!|>'\"%@`? \n\t~<$", max_size=30))
def test_any_text_is_read_or_is_a_problem_with_a_place(text):
    marked = read(text, "f", lambda plain: plain)
    lines = text.split("\n")
    for problem in marked.problems:
        assert 1 <= problem.line <= len(lines) + 1
        assert problem.column >= 1


@given(PLAIN)
def test_the_place_of_every_value_holds_its_text(document):
    text = json.dumps({"root": document}, indent=2, ensure_ascii=False)
    marked = read("\n" + text, "f")
    lines = ("\n" + text).split("\n")

    def look(node, path):
        line, column = marked.place(path)
        tail = lines[line - 1][column - 1 :]
        head = json.dumps(node, ensure_ascii=False)[:1]
        assert tail[:1] == head
        if isinstance(node, dict):
            for key, below in node.items():
                look(below, (*path, key))
        elif isinstance(node, list):
            for index, below in enumerate(node):
                look(below, (*path, index))

    look(marked.value, ())


def test_a_place_in_json_too_deep_for_yaml_is_found():
    deep = "[" * 300 + "]" * 300
    assert read('{"a": ' + deep + ',\n "b": 1}', "f").place(("b",)) == (2, 7)


@pytest.mark.parametrize(
    "text",
    [
        "a: &x {b: [1, 2.5, yes, null, 'é\\u2028']}\nc: *x\n",
        "a: 1\na: 2\n",
        "a: !!set {b}\n",
        "a: [1,\n  b: {\n",
        "a: \x01\n",
        "",
        "a: " + "[" * 300 + "]" * 300,
    ],
)
def test_a_large_text_is_read_as_a_small_one(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = read(text, "f")
    monkeypatch.setattr(reader, "LARGE", 0)
    there = read(text, "f")
    assert (there.value, there.problems) == (here.value, here.problems)
    for path in [] if here.value is None else [(), ("a",), ("a", "b", 1), ("c", "b"), ("d",)]:
        for key in (True, False):
            assert there.place(path, key=key) == here.place(path, key=key)


def test_places_of_large_json_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "LARGE", 0)
    assert read('{"a": 1,\n "b": [2]}', "f").place(("b", 0)) == (2, 8)
    assert read('{"a": "\\ud800",\n "b": [2]}', "f").place(("b", 0)) == (2, 8)


def test_files_that_fill_in_a_large_document_are_recorded(monkeypatch, tmp_path):
    monkeypatch.setattr(reader, "LARGE", 0)
    (tmp_path / "key").write_text("secret")
    with record_reads() as files:
        document = read("a: ${file:key}\n", "x.yaml", lambda text: read_text(tmp_path / "key"))
    assert document.value == {"a": "secret"}
    assert list(files) == [tmp_path / "key"]


def test_a_settled_document_has_no_text_and_hides_secrets():
    document = read("a: ${KEY}\n", "x.yaml", lambda text: "a-long-secret")
    assert document.reference(("a",)) == "${KEY}"
    document.free_positions()
    assert document.text == ""
    assert document.reference(("a",)) == ""
    assert document.redact("it is a-long-secret") == "it is ${KEY}"


def test_strings_of_a_large_document_are_next_to_each_other():
    """So that they do not keep the memory of the mappings, which are freed before them. In a
    process of its own, whose memory no other test has used."""
    subprocess.run([sys.executable, "-c", _NEIGHBOURS], check=True)


_NEIGHBOURS = """
import sys
from engine.source import reader
text = "".join(f"a{n}: {{b: {{c: value-{n}}}, d: []}}\\n" for n in range(10_000))
assert len(text) > reader.LARGE
strings = [entry["b"]["c"] for entry in reader.read(text, "f").value.values()]
pages = {id(string) >> 12 for string in strings}
least = sum(map(sys.getsizeof, strings)) / 4096
assert len(pages) < 3.5 * least, len(pages) / least  # 2.2; 5.5 with the mappings among them
"""


def test_bytes_of_a_document_are_read_as_base64():
    text = "a: !!binary |\n  AA\n  ==\n"
    assert read(text, "f").value == {"a": "AA=="}
    assert [p.code for p in read(text, "f", str).problems] == ["MW004"]

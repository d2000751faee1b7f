"""Reading YAML and JSON with the place of every value."""

import json
import subprocess
import sys

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from engine.source import reader
from engine.source.reader import read, read_file
from engine.source.values import ExpandError
from tests.support.each import each


def value(text, expand=None):
    marked = read(text, "file.yaml", expand)
    assert marked.problems == []
    return marked.value


def found(text, expand=None):
    """Line, column, code and message of each problem."""
    return [(p.line, p.column, p.code, p.message) for p in read(text, "f", expand).problems]


def upper(text):
    """An expander that fills in a few names, and fails for the rest."""
    known = {"${A}": "filled", "${N}": "7", "${T}": "true", "${E}": "", "${NL}": "a: b\n- c"}
    for name, filled in known.items():
        text = text.replace(name, filled)
    if "${" in text:
        raise ExpandError("not set", "set it")
    return text


@each(
    ("text", "expected"),
    [
        ("on", "on"),
        ("off", "off"),
        ("yes", "yes"),
        ("no", "no"),
        ("y", "y"),
        ("2027-01-31", "2027-01-31"),
        ("2027-01-31T10:00:00Z", "2027-01-31T10:00:00Z"),
        ("12:30:45", "12:30:45"),
        ("1_000", "1_000"),
        ("0b101", "0b101"),
        ("010", 10),
        ("0o10", 8),
        ("0xff", 255),
        ("-7", -7),
        ("+7", 7),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("-.inf", float("-inf")),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("'7'", "7"),
        ('"true"', "true"),
        ("=", "="),
        ("1.2.3", "1.2.3"),
        ("!!str 7", "7"),
        ("!!int '7'", 7),
    ],
)
def test_scalars_have_the_types_of_yaml_1_2(text, expected):
    read_as = value(f"a: {text}")["a"]
    assert (read_as, type(read_as)) == (expected, type(expected))


def test_a_key_is_always_a_string():
    assert value("on: 1\n200: 2\n2027-01-31: 3\ntrue: 4\n1.5: 5\nnull: 6\n") == {
        "on": 1,
        "200": 2,
        "2027-01-31": 3,
        "true": 4,
        "1.5": 5,
        "null": 6,
    }


@each(
    ("text", "problem"),
    [
        ("a: 1\na: 2\n", (2, 1, "MW003", "key 'a' is repeated")),
        ("x:\n  b: 1\n  'b': 2\n", (3, 3, "MW003", "key 'b' is repeated")),
        ("{a: 1, a: 2}", (1, 8, "MW003", "key 'a' is repeated")),
        ("1: a\n'1': b\n", (2, 1, "MW003", "key '1' is repeated")),
        ("? [a]\n: 1\n", (1, 3, "MW004", "a key must be a plain name")),
        ("a: &x [*x]", (1, 4, "MW004", "an alias that contains itself")),
        ("a: !!python/object:os.system {}", None),
        ("a: !secret x", (1, 4, "MW004", "tag '!secret' is not supported")),
        ("a: 1\n<<: [7]\n", (2, 6, "MW004", "'<<' merges mappings only")),
    ],
)
def test_what_yaml_allows_and_a_config_should_not_have_is_a_problem(text, problem):
    if problem is not None:
        assert found(text) == [problem]


@each(
    ("text", "line", "column"),
    [
        ("a: [1, 2\nb: 3\n", 1, 4),
        ("a: 1\n b: 2\n", 2, 3),
        ("a: 1\n\tb: 2\n", 2, 1),
        ('a: "open\n', 1, 4),
        ("a: *nowhere\n", 1, 4),
        ("a: 1\n---\nb: 2\n", 2, 1),
        ("a: b: c\n", 1, 5),
        ("a:\n  - 1\n b: 2\n", 3, 2),
        ("a: @x\n", 1, 4),
        ("%YAML 3.0\n---\na: 1\n", 1, 1),
    ],
)
def test_what_is_no_yaml_is_one_problem_at_its_place(text, line, column):
    assert [(at, col, code) for at, col, code, _ in found(text)] == [(line, column, "MW001")]


def test_a_tab_brings_the_hint_that_explains_it():
    assert "spaces" in read("a: 1\n\tb: 2\n", "f").problems[0].hint


@each("bad", ["\0", "\x07", "\x7f", "\x1b"])
def test_a_control_character_is_a_problem_at_its_place(bad):
    assert [(line, column) for line, column, _, _ in found(f"a: 1\nbc: x{bad}\n")] == [(2, 6)]


@each("text", ["a: " + "1" * 5000, '{"a": ' + "1" * 5000 + "}"])
def test_a_number_of_thousands_of_digits_is_no_traceback(text):
    read(text, "f")


@each("text", ["[" * 900 + "]" * 900, "{a: " * 900 + "}" * 900])
def test_deep_nesting_is_a_problem_and_no_traceback(text):
    assert [code for _, _, code, _ in found("x: " + text)] in ([], ["MW001"])


@each("text", ["'[' * 50_000", "'- ' * 50_000", "'{a: ' * 50_000", "'{\"a\":' * 50_000"])
def test_very_deep_nesting_does_not_end_the_process(text):
    code = f"from engine.source.reader import read; print(len(read({text} + '1', 'f').problems))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout.strip()) == (0, "1"), ran.stderr[-300:]


def test_what_aliases_name_is_read_once():
    """Else a few lines of aliases of aliases come to thousands of millions of values."""
    seen = []
    lines = ["a0: &a0 [x$, x$]"]
    lines += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 10)]
    value("\n".join(lines), lambda text: seen.append(text) or text)
    assert len(seen) <= 4


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
    for expand in (None, upper):
        marked = read(text, "f", expand)
        assert marked.place(path) == value_place
        if path[-1:] != ("x",):
            assert marked.place(path, key=True) == key_place


def test_the_place_of_a_merged_value_is_where_it_is_written():
    marked = read("base: &b\n  x: 1\nuse:\n  <<: *b\n  y: 2\n", "f")
    assert marked.value["use"] == {"x": 1, "y": 2}
    assert marked.place(("use", "x")) == (2, 6)


def test_keys_beside_a_merge_win_and_the_first_source_wins():
    text = "a: &a {x: 1, y: 1}\nb: &b {x: 2, z: 2}\nc: {<<: [*a, *b], y: 3}\n"
    assert value(text)["c"] == {"x": 1, "y": 3, "z": 2}


def test_a_merge_of_what_was_just_repeated_is_no_repetition():
    assert value("a: &a {x: 1}\nb:\n  x: 2\n  <<: *a\n")["b"] == {"x": 2}


@each(
    ("text", "expected"),
    [
        ("a: ${A}", "filled"),
        ("a: 'x${A}y'", "xfilledy"),
        ("a: ${N}", 7),
        ("a: '${N}'", "7"),
        ('a: "${N}"', "7"),
        ("a: ${T}", True),
        ("a: ${E}", None),
        ("a: '${E}'", ""),
        ("a: ${NL}", "a: b\n- c"),
        ("a: |\n  ${A}\n", "filled\n"),
        ("a: $A", "$A"),
        ("a: $", "$"),
    ],
)
def test_references_are_filled_in_after_the_yaml_is_read(text, expected):
    """So a value can never add keys; a plain scalar takes the type of what is filled in."""
    assert value(text, upper) == {"a": expected}


def test_what_was_filled_in_is_put_back_in_words():
    marked = read("a: ${A}\nb: 'x${A}y'\nc: plain\n", "f", upper)
    assert marked.redact("'filled' and 'xfilledy' and plain") == "'${A}' and 'x${A}y' and plain"


def test_keys_are_not_filled_in():
    assert value("${A}: 1", upper) == {"${A}": 1}


def test_without_an_expander_references_stay():
    assert value("a: ${A}") == {"a": "${A}"}


def test_every_reference_that_cannot_be_filled_in_is_a_problem_at_its_place():
    text = "a: ${X}\nb:\n  - ok\n  - 'v ${Y}'\n"
    assert found(text, upper) == [(1, 4, "MW005", "not set"), (4, 5, "MW005", "not set")]


def test_json_is_read_as_json():
    text = '{"a": [1, 2.5, null, true, "on"], "2027-01-31": "\\ud83d\\ude00\\/"}'
    assert value(text) == json.loads(text)


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
    assert found('{"x": 1,\n "y": {"a": 1,\n  "a": 2}}')[0][:3] == (3, 3, "MW003")


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
def test_what_a_json_writer_wrote_is_read_back_in_yaml_and_json(document):
    text = json.dumps(document)
    assert value(text) == document
    assert value(f"# yaml\n{text}") == document
    assert value(text, lambda plain: plain) == document


@given(PLAIN)
def test_quoted_strings_stay_strings(document):
    text = yaml.safe_dump({"a": document}, default_style='"', allow_unicode=True)
    if isinstance(document, str):
        assert value(text) == {"a": document}


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
        rest = lines[line - 1][column - 1 :]
        head = json.dumps(node, ensure_ascii=False)[:1]
        assert rest[:1] == head
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


def bomb(levels):
    """Lines of which each stands for ten of the one before."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


def test_aliases_of_aliases_cannot_stand_for_billions():
    assert value(bomb(4))["a3"][9][9][9] == ["x"] * 10
    marked = read(bomb(30), "f")
    assert [(p.code, p.message) for p in marked.problems] == [
        ("MW004", "aliases expand to more than 300,000 values")
    ]
    assert len(json.dumps(marked.value)) < 10_000_000


def test_what_merges_bring_counts_as_well():
    lines = ["a0: &a0 {k: &v [x, x, x, x]}"]
    lines += [f"a{n}: &a{n} {{<<: *a{n - 1}, k{n}: *v}}" for n in range(1, 900)]
    assert [p.code for p in read("\n".join(lines), "f").problems] == ["MW004"]


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
    monkeypatch.setattr(reader, "_LARGE", 0)
    there = read(text, "f")
    assert (there.value, there.problems) == (here.value, here.problems)
    for path in [] if here.value is None else [(), ("a",), ("a", "b", 1), ("c", "b"), ("d",)]:
        for key in (True, False):
            assert there.place(path, key=key) == here.place(path, key=key)


def test_places_of_large_json_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_LARGE", 0)
    assert read('{"a": 1,\n "b": [2]}', "f").place(("b", 0)) == (2, 8)
    assert read('{"a": "\\ud800",\n "b": [2]}', "f").place(("b", 0)) == (2, 8)

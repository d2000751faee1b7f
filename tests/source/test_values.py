"""Values of YAML: the core schema of 1.2, aliases, merge keys, `${...}`."""

from __future__ import annotations

import json

from engine.source.reader import read
from tests.support.each import each
from tests.support.reading import expand_variables, problems_of, value_of


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
    read_as = value_of(f"a: {text}")["a"]
    assert (read_as, type(read_as)) == (expected, type(expected))


def test_a_key_is_always_a_string():
    assert value_of("on: 1\n200: 2\n2027-01-31: 3\ntrue: 4\n1.5: 5\nnull: 6\n") == {
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
        ("a: !secret {b: 1}", (1, 4, "MW004", "tag '!secret' is not supported")),
        ("a: !!set [b]", (1, 4, "MW004", "tag 'tag:yaml.org,2002:set' is not supported")),
        ("a: !secret x", (1, 4, "MW004", "tag '!secret' is not supported")),
        ("a: 1\n<<: [7]\n", (2, 6, "MW004", "'<<' merges mappings only")),
    ],
)
def test_yaml_that_a_config_should_not_contain_is_a_problem(text, problem):
    assert problems_of(text) == [problem]


@each("text", ["a: " + "1" * 5000, '{"a": ' + "1" * 5000 + "}"])
def test_a_number_of_thousands_of_digits_is_a_problem(text):
    assert [(code, words) for _, _, code, words in problems_of(text)] == [
        ("MW004", "a number of 5000 digits")
    ]


def test_the_anchor_of_aliases_is_read_once():
    """Else a few lines of aliases of aliases come to thousands of millions of values."""
    expanded = []
    lines = ["a0: &a0 [x$, x$]"]
    lines += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 10)]
    value_of("\n".join(lines), lambda text: expanded.append(text) or text)
    assert len(expanded) <= 4


def test_a_repeated_key_is_shown_with_the_line_of_the_first():
    text = "a: &a {x: 1}\n? [x]\n: 0\nb:\n  <<: *a\n  '<<': 2\n  y: 1\n  x: 2\n  y: 3\n  y: 4\n"
    hints = [p.hint for p in read(text, "x.yaml").problems if p.code == "MW003"]
    assert hints == ["keep one of them; the other is in line 7"] * 2


def test_keys_beside_a_merge_win_and_the_first_source_wins():
    text = "a: &a {x: 1, y: 1}\nb: &b {x: 2, z: 2}\nc: {<<: [*a, *b], y: 3}\n"
    assert value_of(text)["c"] == {"x": 1, "y": 3, "z": 2}


def test_a_key_beside_the_same_merged_key_is_not_a_repetition():
    assert value_of("a: &a {x: 1}\nb:\n  x: 2\n  <<: *a\n")["b"] == {"x": 2}


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
    assert value_of(text, expand_variables) == {"a": expected}


def test_keys_are_not_filled_in():
    assert value_of("${A}: 1", expand_variables) == {"${A}": 1}


def test_without_an_expander_references_stay():
    assert value_of("a: ${A}") == {"a": "${A}"}


def test_every_reference_that_cannot_be_filled_in_is_a_problem_at_its_place():
    text = "a: ${X}\nb:\n  - ok\n  - 'v ${Y}'\n"
    assert problems_of(text, expand_variables) == [
        (1, 4, "MW005", "not set"),
        (4, 5, "MW005", "not set"),
    ]


def bomb(levels):
    """Lines of which each stands for ten of the one before."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


def test_aliases_of_aliases_cannot_stand_for_billions():
    assert value_of(bomb(4))["a3"][9][9][9] == ["x"] * 10
    marked = read(bomb(30), "f")
    assert [(p.code, p.message) for p in marked.problems] == [
        ("MW004", "aliases expand to more than 300,000 values")
    ]
    assert len(json.dumps(marked.value)) < 10_000_000


def test_merged_values_count_as_well():
    lines = ["a0: &a0 {k: &v [x, x, x, x]}"]
    lines += [f"a{n}: &a{n} {{<<: *a{n - 1}, k{n}: *v}}" for n in range(1, 900)]
    assert [p.code for p in read("\n".join(lines), "f").problems] == ["MW004"]

"""Patterns of other languages are read as what they mean, large ones without their size."""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from engine.spec.document.patterns import read
from tests.support.each import each


def validator(pattern: str) -> Any:
    reading = read(pattern)
    assert reading.pattern is not None
    schema = {"pattern": reading.pattern, **reading.bounds}
    jsonschema_rs.Draft4Validator(schema)  # that of OpenAPI 3.0, which refuses more
    return jsonschema_rs.Draft202012Validator(schema)


@each(
    ("pattern", "accepted", "refused"),
    [
        (r"(?i)^[a-f]+$", ["AB", "ab"], ["G"]),
        (r"(?i:^a)$", ["A"], ["b"]),
        (r"^(?i)(pay|details)$", ["pay", "DETAILS"], ["", "payx"]),
        (r"^a(?i)b$|^c$", ["ab", "aB", "C"], ["AB"]),
        (r"^(a(?i)b)c$", ["aBc"], ["aBC"]),
        (r"(?iu)^(?P<x>a)(?i:b)(?P=x)$", ["ABA"], ["abb"]),
        (r"\A\d+\Z", ["12"], ["a12", "12\n"]),
        (r"^\d+\z", ["12"], ["12a"]),
        (r"^(?P<x>a|b)-(?P=x)$", ["a-a", "b-b"], ["a-b"]),
        (r"^(?<y>\d{4})-\k<y>$", ["2020-2020"], ["2020-2021"]),
        (r"^(a)(?<n>b)\k<n>$", ["abb"], ["aba"]),
        (r"^[[:alpha:]]+$", ["ab"], ["[:", "1"]),
        (r"^[[:alnum:]_]$", ["a", "1", "_"], [":", "["]),
        (r"^\p{IsBasicLatin}+[\p{IsBasicLatin}é]$", ["ab", "aé"], ["éa"]),
        (r"^\p{IsLatin}$", ["é"], ["1"]),
        (r"^a]$", ["a]"], ["a"]),
        (r"^a}{$", ["a}{"], ["a"]),
        (r"^[{}[]+$", ["{[}"], ["a"]),
        (r"^a{,3}$", ["", "aaa"], ["aaaa"]),
        (r"^[\w-.]+$", ["a-.b"], ["a b", ","]),
        (r"^[a-\d]$", ["a", "-", "1"], ["b"]),
        (r"^[a-z&&[^b]]$", ["a", "c"], ["b", "a]"]),
        (r"^[a-z&&[b-c]]$", ["b"], ["a"]),
        (r"^[^]$", ["a", "\n"], [""]),
        (r"^[]$", [], ["a", ""]),
        (r"^[\b]$", ["\b"], ["b"]),
        (r"^\Qa.b\E$", ["a.b"], ["axb"]),
        (r"^\e\a\0\07$", ["\x1b\x07\x00\x07"], ["ea"]),
        (r"^\h\R$", ["\t\r\n", " \n"], ["a\n"]),
        (r"^(?#comment)(?>a|b)c$", ["ac"], ["c"]),
        (r"^[\ud83d\ude00]\ud83d\ude00$", ["😀😀"], ["😀"]),
        (r"^[\u0020-\uD7FF\uD800\uDC00-\uDBFF\uDFFF]$", ["a", "😀"], ["\n", "\ue000"]),
        ("/^[a-z]+$/i", ["AB"], ["1", "/ab/"]),
        ("/a/", ["x/a/y"], ["a"]),
        (r"^[a&&b]$", ["a", "&", "b"], ["c"]),
        (r"\A[a[]+\Z", ["a["], ["x", "s"]),
        (r"(?i)^[^\[]+$", ["a]"], ["["]),
        (r"\A[a[^]+\Z", ["a[^"], ["x"]),
        (r"\A[]a]+\Z", ["]a"], ["b", "["]),
        (r"\A[][a]+\Z", ["][a"], ["b"]),
        (r"\A[^][]+\Z", ["ab"], ["]", "["]),
        (r"\A[^]a]+\Z", ["b["], ["]", "a"]),
        (r"(?i)^[^]*[a-z]$", ["]1A"], ["1"]),
        (r"(?i)^(?P<x>a|b)(c)(?P=x)$", ["aca"], ["acc"]),
        (r"^[(](?P<x>a|b)(c)(?P=x)$", ["(aca"], ["(acc"]),
    ],
)
def test_a_pattern_is_read_as_what_it_means(
    pattern: str, accepted: list[str], refused: list[str]
) -> None:
    judge = validator(pattern)
    assert [text for text in accepted if not judge.is_valid(text)] == []
    assert [text for text in refused if judge.is_valid(text)] == []


@each(
    ("pattern", "accepted", "refused"),
    [
        (r"^[\s\S]{1,65535}$", ["a", "\n" * 65535], ["", "a" * 65536]),
        (r"^.{0,65536}$", ["", "a"], ["\n", "a" * 65537]),
        (r"^[\p{L}\p{N} .'-]{1,255}$", ["é 1", "a" * 255], ["", "_", "a" * 256]),
        (r"^[a-z][\p{L}_-]{0,254}$", ["a", "a" + "é" * 254], ["", "é", "a" * 256]),
        (r"^\p{L}{2,255}\d{2}$", ["éé11"], ["é11", "é" * 256 + "11"]),
        (r"(?i)^[a-z]{0,5000}$", ["A"], ["1", "a" * 5001]),
    ],
)
def test_a_long_repetition_of_a_character_is_bounded_by_the_length(
    pattern: str, accepted: list[str], refused: list[str]
) -> None:
    reading = read(pattern)
    assert reading.is_exact
    assert len(reading.pattern or "") < len(pattern)
    judge = validator(pattern)
    assert [text for text in accepted if not judge.is_valid(text)] == []
    assert [text[:9] for text in refused if judge.is_valid(text)] == []


def test_an_atomic_group_is_read_as_more_than_it_means() -> None:
    assert not read(r"^(?>a+)ab$").is_exact


def test_a_pattern_that_is_too_large_is_read_without_the_most_of_its_repetitions() -> None:
    reading = read(r"^(\p{L}{1,5000}-)+$")
    assert not reading.is_exact
    judge = validator(r"^(\p{L}{1,5000}-)+$")
    assert judge.is_valid("é-")
    assert not judge.is_valid("1-")


@each("pattern", ["(", "a)", "[z-a]", "*a", "a**", "\\G", "\ud800"])
def test_what_is_no_pattern_is_not_read(pattern: str) -> None:
    assert read(pattern).pattern is None


@each(
    "pattern",
    [r"^\p{XDigit}+$", r"[^\P{Alnum}]", r"^\p{IsLatin}$", r"\p{javaLetter}", r"\p{Space}"],
)
def test_properties_of_other_languages_are_not_standard(pattern):
    assert not read(pattern).is_standard


@each(
    "pattern",
    [r"\p{Lu}", r"\P{Script=Greek}", r"[\p{ASCII}\p{gc=Lu}]", r"\p{Alpha}"],
)
def test_properties_of_ecma_262_are_standard(pattern):
    assert read(pattern).is_standard


@each("pattern", [r"^\d{3}$", r"^(?=a)\p{L}$", r"^a{1,100}$", "", r"^[\w.-]+@[\w.-]+$"])
def test_a_pattern_of_the_standard_stays_as_it_is(pattern: str) -> None:
    assert read(pattern) == (pattern, {}, True, True)


@each("pattern", ["(?i)^[a-f]+$", "/^[a-f]+$/i", "(?i)^a|^f$", "(?is)^[a-f]{0,5000}$"])
def test_flags_are_read_in_every_draft(pattern: str) -> None:
    reading = read(pattern)
    assert not reading.is_standard
    for kind in (jsonschema_rs.Draft4Validator, jsonschema_rs.Draft202012Validator):
        compiled = kind({"pattern": reading.pattern})
        assert compiled.is_valid("A")
        assert not compiled.is_valid("G")


@each(
    "pattern",
    [
        *("yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", "YYYY-MM-DDThh:mm:ssZ", "HH:mm:SS"),
        *("dd/MM/yyyy", "yyyy-MM-dd HH:mm:ss", "dd.MM.yyyy HH:mm", "MMM dd, yyyy hh:mm a"),
        *("EEE, dd MMMM yyyy HH:mm:ss z", "yyyyMMdd HHmmss.SSSXXX"),
    ],
)
def test_a_format_of_dates_is_no_pattern(pattern: str) -> None:
    assert read(pattern).pattern is None


@each(
    "pattern",
    [
        *("MM", "a-z", "^yyyy-MM-dd$", "Z", "mm-x", "-", "T"),
        *("yyyy" * 40 + "!", "yyyy-MM" + "z" * 40 + "!", "yyyy-MM" + "Z'" * 40 + "!"),
    ],
)
def test_a_pattern_that_resembles_a_format_of_dates_is_one(pattern: str) -> None:
    assert read(pattern).pattern == pattern

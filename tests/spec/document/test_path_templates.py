"""What is wrong with a path template or a path, and which templates match the same paths."""

from __future__ import annotations

import time

from engine.spec.document import path_templates
from tests.support.each import each


@each("template", ["/", "/a", "/a/{x}", "/{x}:y", "/{x}.{y}", "/{file-id}", "/a/"])
def test_a_template_is_right(template: str) -> None:
    assert path_templates.check(template) is None


@each(
    ("template", "words"),
    [
        ("", "begins"),
        ("a", "begins"),
        ("{x}", "begins"),
        ("//a", "empty"),
        ("/a//b", "empty"),
        ("/a?b=c", "query"),
        ("/a#b", "fragment"),
        ("/{a", "unbalanced"),
        ("/a}", "unbalanced"),
        ("/{{a}}", "unbalanced"),
        ("/{}", "no name"),
        ("/{a}/{a}", "repeated"),
        ("/{a}{b}", "follow each other"),
        ("/{a}{b}{mediaTypeExtension}", "follow each other"),
        ("/{a}{mediaTypeExtension}{b}", "follow each other"),
        ("/{a}{mediaTypeExtension}", "None"),
    ],
)
def test_a_template_is_wrong(template: str, words: str) -> None:
    fault = path_templates.check(template)
    assert words in (fault.message if fault else "None")


@each(
    ("template", "words"),
    [
        ("items/{id}", "write '/items/{id}'"),
        ("/a///b", "write '/a/b'"),
        ("/a?b=c", "describe the query by parameters"),
        ("/{a", "write variables as '{name}'"),
        ("/{}", "write it as '{name}', and declare the parameter"),
        ("/{a}/{b}/{b}", "give the second '{b}' a name of its own, and declare the parameter"),
        ("/{a}{b}", "write a separator, as '{a}-{b}', or one variable for both"),
    ],
)
def test_a_wrong_template_has_a_hint(template: str, words: str) -> None:
    fault = path_templates.check(template)
    assert fault is not None
    assert fault.hint == words


def test_equal_shapes_are_the_same_path() -> None:
    assert path_templates.shape("/a/{x}:y") == path_templates.shape("/a/{other}:y") == "/a/{}:y"
    assert path_templates.variables("/a/{x}/{y=z/*}") == ["x", "y"]


@each("path", ["/a/%252e%252e/b", "/a/%252E./b", "/%25252e%25252e%25252fb", "/a/..%253bx/b"])
def test_a_dot_segment_that_is_encoded_twice_is_unsafe(path: str) -> None:
    assert path_templates.unsafe(path) == "it has a dot segment"


@each(
    "path",
    [
        *(
            "/a/%EF%BC%8E%EF%BC%8E/b",
            "/a/%E2%80%A5%EF%BC%8Fb",
            "/a/%25EF%25BC%258E%25EF%25BC%258E/b",
        ),
        *("/a/%25c0%25ae%25C0%25AE/b", "/a/..%2520/b", "/a/..%2500", "/a/%2e%2e%20/b"),
        *("/a/..%25c0%25AF../b", "/a/..%25c1%259c", "/a/%25e0%2580%25ae.%25f0%2580%2580%25af"),
    ],
)
def test_a_dot_segment_in_another_form_is_unsafe(path: str) -> None:
    assert path_templates.unsafe(path) == "it has a dot segment"


def test_the_time_for_a_long_path_is_not_the_square_of_its_marks() -> None:
    path = "/a/" + "%cc%81" * 25_000 + "%cc%a7" * 25_000
    before = time.process_time()
    assert path_templates.unsafe(path) is None
    assert time.process_time() - before < 0.5


@each("path", ["/a/100%2525/b", "/a/%2561", "/a/b%252Fc", "/a/v1%252e2"])
def test_text_encoded_twice_without_dot_segments_is_safe(path: str) -> None:
    assert path_templates.unsafe(path) is None


def test_templates_are_ambiguous_if_neither_is_more_specific() -> None:
    shapes = ["/a/{}/b", "/a/b/{}", "/a/{}/{}", "/a/b/b", "/c/{}/b", "/a/{}/b/{}", "/a/x{}/{}"]
    pairs = {*path_templates.ambiguous(shapes)}
    assert pairs == {("/a/{}/b", "/a/b/{}"), ("/a/b/{}", "/a/{}/b")}
    assert path_templates.pattern("/a/{x}:run/b").fullmatch("/a/1%3arun/b")

"""Operations of one method and path, and those of them that may serve a request."""

from __future__ import annotations

from typing import Any

from engine import dialects
from engine.edge.path_operations import Resource, link_overlaps
from engine.spec.document.path_templates import variables
from tests.support.each import each

BETA = (("beta", "true"),)


def shared(*operations: tuple[str, tuple[tuple[str, str], ...], tuple[str, int]]) -> Resource:
    """The first of several resources, with all of them."""
    made: Any = print
    resources = [Resource("GET", "", (), made, query, name, at) for name, query, at in operations]
    for resource in resources:
        resource.names = (resource.operation,)
    for resource in resources[1:]:
        resources[0].add(resource)
    return resources[0]


def names(resource: Resource, query: str = "") -> list[str]:
    return [c.resource.operation for c in resource.candidates("/", query, {"x": (1, 2)}, {})]


@each(
    ("query", "expected"),
    [
        ("", ["one", "two"]),
        ("beta=true", ["beta", "gamma"]),
        ("beta=true&c=1", ["both"]),
        ("c=1", ["one", "two"]),
    ],
)
def test_those_for_most_of_the_query_are_candidates(query: str, expected: list[str]) -> None:
    resource = shared(
        ("two", (), ("d", 2)),
        ("gamma", BETA, ("d", 4)),
        ("both", (*BETA, ("c", "1")), ("d", 5)),
        ("one", (), ("d", 1)),
        ("beta", BETA, ("d", 3)),
    )
    assert names(resource, query) == expected


def test_operations_of_another_document_are_no_alternatives() -> None:
    assert names(shared(("one", (), ("d", 1)), ("two", (), ("e", 2)))) == ["one"]
    assert names(shared(("one", (), ("", 0)), ("two", (), ("", 0)))) == ["one"]


@each(
    ("environ", "query", "expected"),
    [
        ({}, "", ["openai"]),
        ({"HTTP_ANTHROPIC_VERSION": "2026-10-21"}, "", ["anthropic"]),
        ({"HTTP_X_GOOG_API_KEY": "k"}, "", ["gemini", "gemini-2"]),
        ({}, "key=k", ["gemini", "gemini-2"]),
    ],
)
def test_of_documents_of_several_dialects_the_one_that_claims_the_request_has_the_path(
    environ: dict[str, str], query: str, expected: list[str]
) -> None:
    made: Any = print
    resources = [
        Resource("GET", "", (), made, (), name, (name.partition("-")[0], n), dialects.get(dialect))
        for n, (name, dialect) in enumerate(
            [
                ("openai", "openai"),
                ("anthropic", "anthropic"),
                ("gemini", "gemini"),
                ("gemini-2", "gemini"),
                ("other", "openai"),  # of another document of a dialect that has the path
            ]
        )
    ]
    for resource in resources:
        resource.names = ("x",)
    for resource in resources[1:]:
        resources[0].add(resource)
    found = resources[0].candidates("/", query, {"x": (1, 2)}, environ)
    assert [c.resource.operation for c in found] == expected


def test_each_candidate_has_its_own_variables() -> None:
    resource = shared(("one", (), ("d", 1)), ("two", (), ("d", 2)))
    candidates = resource.candidates("/", "", {"x": (3, 5)}, {})
    assert [c.variables for c in candidates] == [{"one": (3, 5)}, {"two": (3, 5)}]


def test_operations_of_overlapping_templates_are_candidates_where_both_match() -> None:
    made: Any = print
    resources = []
    for number, template in enumerate(("/a/{x}/b", "/a/b/{y}", "/a/{x}/{z}", "/a/c/{y}")):
        resource = Resource("GET", "", (), made, (), template, ("d", number))
        resource.template, resource.names = template, tuple(variables(template))
        resources.append(resource)
    link_overlaps(resources)
    assert [len(r.overlaps) for r in resources] == [2, 1, 0, 1]
    found = resources[1].candidates("/a/b/b", "", {"y": (5, 6)}, {})
    assert [(c.resource.operation, c.variables) for c in found] == [
        ("/a/b/{y}", {"y": (5, 6)}),
        ("/a/{x}/b", {"x": (3, 4)}),
    ]
    found = resources[1].candidates("/a/b/c", "", {"y": (5, 6)}, {})
    assert [c.resource.operation for c in found] == ["/a/b/{y}"]

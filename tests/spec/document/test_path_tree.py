"""The tree of path templates, on raw paths."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.spec.document import path_templates, path_tree
from engine.spec.document.path_tree import PathMatch, PathMiss, PathTree
from tests.support.each import each


def tree(*templates: str, slash_variables: tuple[str, ...] = ()) -> PathTree:
    """A tree of GET operations; `POST /x` names another method. Each leads to itself."""
    paths = PathTree()
    for line in templates:
        method, _, template = line.rpartition(" ")
        paths.add(template, method or "GET", line, slash_variables)
    return paths


def match(paths: PathTree, path: str, method: str = "GET") -> Any:
    """What a path leads to and the text of its variables, or None."""
    result = paths.find(path, method)
    if isinstance(result, PathMiss):
        return None
    return result.value, {name: path[start:end] for name, (start, end) in result.variables.items()}


MODELS = tree(
    "GET /v1/models",
    "GET /v1/models/{model}",
    "POST /v1/models/{model}:generate",
    "POST /v1/models/{model}:count",
    slash_variables=("model",),
)


@each(
    ("templates", "path", "value", "variables"),
    [
        (["/"], "/", "/", {}),
        (["/a"], "/a", "/a", {}),
        (["/a/{x}"], "/a/b", "/a/{x}", {"x": "b"}),
        (["/{x}/b/{y}"], "/1/b/2", "/{x}/b/{y}", {"x": "1", "y": "2"}),
        # Literals before templates, whatever comes first.
        (["/a/{x}", "/a/b"], "/a/b", "/a/b", {}),
        (["/a/b", "/a/{x}"], "/a/b", "/a/b", {}),
        (["/{x}/c", "/a/{y}"], "/a/c", "/a/{y}", {"y": "c"}),
        # A literal that leads nowhere is given up for a template.
        (["/a/b/c", "/a/{x}/d"], "/a/b/d", "/a/{x}/d", {"x": "b"}),
        (["/a/b/c", "/{y}/b/d"], "/a/b/d", "/{y}/b/d", {"y": "a"}),
        # More literal text before less.
        (["/{x}", "/v{x}"], "/v1", "/v{x}", {"x": "1"}),
        (["/{x}.{y}", "/{x}.json"], "/a.json", "/{x}.json", {"x": "a"}),
        (["/{x}", "/{x}.{y}"], "/a.b", "/{x}.{y}", {"x": "a", "y": "b"}),
        # RAML's variable for `.json` and `.xml`.
        (
            *(["/{x}", "/{x}{mediaTypeExtension}"], "/a.b.json", "/{x}{mediaTypeExtension}"),
            {"x": "a.b", "mediaTypeExtension": ".json"},
        ),
        (["/{x}", "/{x}{mediaTypeExtension}"], "/a", "/{x}", {"x": "a"}),
        (["/a{mediaTypeExtension}"], "/ab", "/a{mediaTypeExtension}", {"mediaTypeExtension": "b"}),
        # Names with dashes and dots.
        (["/files/{file-id}/x"], "/files/f-1/x", "/files/{file-id}/x", {"file-id": "f-1"}),
        (["/{a.b}"], "/1", "/{a.b}", {"a.b": "1"}),
        # A final slash is a segment of its own.
        (["/a/"], "/a/", "/a/", {}),
        # A dot is a dot.
        (["/a.b"], "/a.b", "/a.b", {}),
        (["/@{user}"], "/@me", "/@{user}", {"user": "me"}),
    ],
)
def test_a_path_is_found(templates: list[str], path: str, value: str, variables: Any) -> None:
    assert match(tree(*templates), path) == (value, variables)


@each(
    ("templates", "path"),
    [
        (["/a"], "/"),
        (["/a"], "/b"),
        (["/a"], "/a/"),
        (["/a"], "/A"),
        (["/a"], "/a/b"),
        (["/a/b"], "/a"),
        (["/a.b"], "/axb"),
        (["/a"], ""),
        (["/a"], "a"),
        # An empty segment is no value.
        (["/a/{x}"], "/a/"),
        (["/a/{x}/b"], "/a//b"),
        (["/v{x}"], "/v"),
        (["/{x}.json"], "/.json"),
    ],
)
def test_a_path_is_not_found(templates: list[str], path: str) -> None:
    assert tree(*templates).find(path, "GET") == PathMiss((), ())


# Models: names with slashes and colons, and verbs.


@each(
    "model",
    [
        "gpt-4o",
        "meta-llama/Llama-3",
        "org%2Fm",
        "org%2fm",
        "a/b/c/d",
        "llama:free",
        "llama%3Afree",
        "org/llama:free:beta",
        "m%20x",
        "é",
        "%C3%A9",
        "a//b",
        "models",
        "m.n-o_p~q",
    ],
)
def test_a_model_of_any_name_is_found(model: str) -> None:
    assert match(MODELS, f"/v1/models/{model}") == ("GET /v1/models/{model}", {"model": model})
    for verb in ("generate", "count"):
        path = f"/v1/models/{model}:{verb}"
        expected = (f"POST /v1/models/{{model}}:{verb}", {"model": model})
        assert match(MODELS, path, "POST") == expected


def test_the_colon_of_a_verb_may_be_encoded() -> None:
    expected = ("POST /v1/models/{model}:generate", {"model": "m"})
    assert match(MODELS, "/v1/models/m%3Agenerate", "POST") == expected
    assert match(MODELS, "/v1/models/m%3agenerate", "POST") == expected


def test_the_last_verb_counts() -> None:
    assert match(MODELS, "/v1/models/m:count:generate", "POST") == (
        "POST /v1/models/{model}:generate",
        {"model": "m:count"},
    )


def test_a_verb_alone_has_no_model() -> None:
    assert isinstance(MODELS.find("/v1/models/:generate", "POST"), PathMiss)


def test_an_unknown_verb_says_which_there_are() -> None:
    missed = MODELS.find("/v1/models/m:generat", "POST")
    assert isinstance(missed, PathMiss)
    assert set(missed.verbs) == {":generate", ":count"}


def test_a_path_without_a_verb_has_no_verb_suggestions() -> None:
    missed = MODELS.find("/v1/models/m", "POST")
    assert missed == PathMiss(("GET",), ())


def test_a_verb_of_a_path_with_no_verbs_is_a_plain_name() -> None:
    assert tree("/a/{x}").find("/a/b:c/d", "GET") == PathMiss((), ())


def test_a_wide_variable_leaves_the_text_before_it() -> None:
    paths = tree("/{tenant}/models/{model}:x", slash_variables=("model",))
    assert match(paths, "/t/models/a/b:x") == (
        "/{tenant}/models/{model}:x",
        {"tenant": "t", "model": "a/b"},
    )


def test_a_wide_variable_may_stand_in_the_middle() -> None:
    paths = tree("/proxy/{path}/log/{n}", slash_variables=("path",))
    assert match(paths, "/proxy/a/b/log/1") == (
        "/proxy/{path}/log/{n}",
        {"path": "a/b", "n": "1"},
    )


def test_a_variable_after_a_wide_one_holds_no_slash() -> None:
    paths = tree("/proxy/{path}/log/{n}", slash_variables=("path",))
    assert match(paths, "/proxy/a/log/b/c") is None


def test_literals_and_templates_precede_slash_variables() -> None:
    paths = tree("/m/{model}", "/m/list", "/m/{x}/info", slash_variables=("model",))
    assert match(paths, "/m/list") == ("/m/list", {})
    assert match(paths, "/m/a/info") == ("/m/{x}/info", {"x": "a"})
    assert match(paths, "/m/a/other") == ("/m/{model}", {"model": "a/other"})


@each("slash_variables", [(), ("name",)])
def test_a_variable_with_a_pattern_is_matched_or_refused(slash_variables: tuple[str, ...]) -> None:
    template = "/v1/{name=models/*}:x"
    assert path_templates.check(template) or match(
        tree(template, slash_variables=slash_variables), "/v1/models/m:x"
    )


# Methods.


def test_two_methods_of_one_shape_keep_their_own_names() -> None:
    paths = tree("GET /a/{id}", "POST /a/{name}/x", "DELETE /a/{other}")
    assert match(paths, "/a/1") == ("GET /a/{id}", {"id": "1"})
    assert match(paths, "/a/1", "DELETE") == ("DELETE /a/{other}", {"other": "1"})
    assert match(paths, "/a/1/x", "POST") == ("POST /a/{name}/x", {"name": "1"})


def test_another_method_is_missed_with_those_there_are() -> None:
    paths = tree("GET /a", "PUT /a", "POST /b")
    assert paths.find("/a", "POST") == PathMiss(("GET", "PUT"), ())
    assert paths.find("/c", "POST") == PathMiss((), ())


def test_the_methods_of_every_template_that_fits_are_allowed() -> None:
    paths = tree("GET /a/b", "PUT /a/{x}", "PATCH /{y}/b")
    assert paths.find("/a/b", "POST") == PathMiss(("GET", "PATCH", "PUT"), ())


def test_a_method_is_searched_in_every_matching_template() -> None:
    paths = tree("GET /a/b", "PUT /a/{x}")
    assert match(paths, "/a/b", "PUT") == ("PUT /a/{x}", {"x": "b"})


def test_the_first_of_two_equal_operations_stays() -> None:
    paths = PathTree()
    paths.add("/a/{x}", "GET", 1)
    paths.add("/a/{y}", "GET", 2)
    assert paths.find("/a/b", "GET") == PathMatch(1, {"x": (3, 4)})


def test_templates_of_one_place_may_name_it_differently() -> None:
    # GitHub's kind: Falcon's own router refuses the two.
    paths = tree(
        "GET /orgs/{org}/attestations/{attestation_id}",
        "DELETE /orgs/{org}/attestations/{subject_digest}",
        "GET /orgs/{org}/attestations/{digest}/bundle",
        "POST /orgs/{org}/attestations/bulk-list",
        "GET /orgs/{organization}/repos",
    )
    path = "/orgs/o/attestations/sha256%3Aff"
    assert match(paths, path)[1] == {"org": "o", "attestation_id": "sha256%3Aff"}
    assert match(paths, path, "DELETE")[1] == {"org": "o", "subject_digest": "sha256%3Aff"}
    assert match(paths, path + "/bundle")[1] == {"org": "o", "digest": "sha256%3Aff"}
    assert match(paths, "/orgs/o/attestations/bulk-list", "POST")[1] == {"org": "o"}
    assert match(paths, "/orgs/o/repos")[1] == {"organization": "o"}


# Percent-encoding.


@each(
    ("template", "path"),
    [
        ("/a-b", "/a%2Db"),
        ("/chat/completions", "/%63hat/completions"),
        ("/é", "/%C3%A9"),
        ("/a@b", "/a%40b"),
        ("/a%20b", "/a%20b"),
        ("/x.{y}", "/x%2E1"),
        ("/x.{y}", "/x%2e1"),
    ],
)
def test_an_encoded_literal_is_the_literal(template: str, path: str) -> None:
    assert match(tree(template), path) is not None


def test_an_encoded_slash_divides_no_segments() -> None:
    assert match(tree("/a/b"), "/a%2Fb") is None
    assert match(tree("/{x}"), "/a%2Fb") == ("/{x}", {"x": "a%2Fb"})


@each("path", ["/%", "/%zz", "/%ff", "/a%2", "//", "///", "/\x00", "/%00"])
def test_an_unusual_path_is_a_match_or_a_miss(path: str) -> None:
    paths = tree("/a/{x}", "/a/{y}:z")
    assert isinstance(paths.find(path, "GET"), PathMiss)


# Cost.


class Counting:
    """Compiled patterns that count how often they are tried."""

    def __init__(self) -> None:
        self.tries = 0

    def compile(self, pattern: str) -> Any:
        counter, real = self, re.compile(pattern)

        class Pattern:
            def __init__(self) -> None:
                self.pattern = pattern

            def fullmatch(self, *arguments: Any) -> Any:
                counter.tries += 1
                return real.fullmatch(*arguments)

        return Pattern()

    def __getattr__(self, name: str) -> Any:
        return getattr(re, name)


def test_ten_thousand_routes_are_searched_in_a_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting()
    monkeypatch.setattr(path_tree, "re", counting)
    paths = PathTree()
    for number in range(2500):
        for template in ("/api/r{n}/{id}", "/api/r{n}/{id}/x", "/api/r{n}/{id}/{sub}", "/api/r{n}"):
            paths.add(template.replace("{n}", str(number)), "GET", template)
    for path in ("/api/r1234/5", "/api/r2499/5/x", "/api/r0/5/6", "/api/r77", "/api/no/5", "/no"):
        paths.find(path, "GET")
    assert counting.tries < 50


def test_a_path_of_many_segments_is_not_searched_over_and_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counting = Counting()
    monkeypatch.setattr(path_tree, "re", counting)
    paths = PathTree()
    paths.add("/" + "/".join(f"{{a{n}}}" for n in range(12)), "GET", 1)
    paths.add("/" + "/".join(f"x{{b{n}}}" for n in range(12)), "GET", 2)
    paths.find("/x1" * 12, "POST")
    paths.find("/x1" * 5000, "GET")
    assert counting.tries < 100


# Whatever stands in a template's variables is found where it stands.

names = st.text("abcxyz-_.", min_size=1, max_size=3)
literals = st.text("abc-_.~", min_size=1, max_size=3)


@st.composite
def templates(draw: Any) -> str:
    """A template in which at least one literal character parts two variables."""
    paths = ""
    for names in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["literal", "variable", "both", "verb"]))
        paths += (
            "/"
            + {
                "literal": draw(literals),
                "variable": f"{{v{names}}}",
                "both": f"{draw(literals)}{{v{names}}}",
                "verb": f"{{v{names}}}:{draw(literals)}",
            }[kind]
        )
    return paths


@given(st.data(), templates())
def test_a_filled_template_is_found_with_exactly_its_values(data: Any, template: str) -> None:
    values = st.text(min_size=1, max_size=6).map(lambda text: quote(text, safe=":@"))
    filled, spans = "", {}
    at = 0
    for match in re.finditer(r"\{(\w+)\}", template):
        filled += template[at : match.start()]
        value = data.draw(values)
        spans[match[1]] = (len(filled), len(filled) + len(value))
        filled += value
        at = match.end()
    filled += template[at:]
    paths = PathTree()
    paths.add(template, "GET", "it")
    result = paths.find(filled, "GET")
    assert isinstance(result, PathMatch)
    assert result.variables == spans


@given(
    st.lists(st.text(min_size=1, max_size=4).map(lambda text: quote(text, safe=":")), min_size=1)
)
def test_a_wide_variable_holds_a_model_of_any_segments(segments: list[str]) -> None:
    model = "/".join(segments)
    paths = PathTree()
    paths.add("/m/{model}:go", "POST", "it", slash_variables=("model",))
    result = paths.find(f"/m/{model}:go", "POST")
    assert result == PathMatch("it", {"model": (3, 3 + len(model))})


@given(st.text("/{}:%ab2F.", max_size=12), st.sampled_from(["GET", "POST"]))
def test_any_path_is_answered(path: str, method: str) -> None:
    assert isinstance(MODELS.find(path, method), PathMatch | PathMiss)


@each("path", ["x/a", "@host/a", ".host/a", "*/a", "http:/a"])
def test_text_before_the_first_slash_is_a_miss(path: str) -> None:
    assert match(tree("/a", "/{x}"), path) is None


def test_a_literal_path_goes_before_a_variable_and_adds_its_methods():
    paths = tree("/a/{x}", "/a/b", "POST /a/c", "DELETE /a/{x}")
    assert match(paths, "/a/b") == ("/a/b", {})
    assert match(paths, "/a/%62") == ("/a/b", {})
    assert match(paths, "/a/c") == ("/a/{x}", {"x": "c"})
    assert paths.find("/a/c", "PUT") == PathMiss(("DELETE", "GET", "POST"), ())


def test_a_literal_with_an_escape_matches_the_decoded_path():
    assert match(tree("/a%20b"), "/a%20b") == ("/a%20b", {})
    assert match(tree("/a%2Fb"), "/a%2Fb") == ("/a%2Fb", {})
    assert match(tree("/a%2Fb"), "/a/b") is None


def test_a_template_that_is_added_behind_a_search_is_found() -> None:
    paths = tree("/v1/{a}")
    assert match(paths, "/v1/models/m") is None
    paths.add("/v1/models/{model}", "GET", "added")
    assert match(paths, "/v1/models/m") == ("added", {"model": "m"})


@each(
    ("others", "is_sole"),
    [
        ((), True),
        (("/a/{x}/c", "/a/b", "/{x}", "POST /a/{x}/c", "POST /a/b/b"), True),
        (("/a/c/b",), False),
        (("/a/c/c", "/a/{x}:go/b"), False),
        (("/a/c%2Fd/b",), False),
        (("/{x}/{y}/b", "/{x}/c/b"), True),
    ],
)
def test_a_template_is_sole_if_nothing_stands_beside_its_variables(others, is_sole):
    assert tree("/a/{x}/b", *others).is_sole("/a/{x}/b", "GET") is is_sole
    assert not tree("/a/{x}/b", *others).is_sole("/a/{x}/b", "DELETE")


def test_a_template_with_other_variables_is_not_sole():
    paths = PathTree()
    paths.add("/a/{x}", "GET", "wide", ["x"])
    assert not paths.is_sole("/a/{x}", "GET")
    assert not tree("/a/{x}.json").is_sole("/a/{x}.json", "GET")


segments = st.sampled_from(["a", "b", "{v}", "a{v}", "{v}:b", "%61"])
few_templates = st.lists(segments, min_size=1, max_size=3).map(lambda parts: "/" + "/".join(parts))


@given(st.lists(few_templates, min_size=1, max_size=6), st.data())
def test_all_paths_of_a_sole_template_lead_to_it(all_templates: list[str], data: Any) -> None:
    paths = tree(*all_templates)
    values = st.sampled_from(["a", "b", "c", "ab", "c:b", "%61", "%62", "a%2Fb"])
    for template in filter(lambda each: paths.is_sole(each, "GET"), all_templates):
        filled = re.sub(r"\{v\}", lambda _: data.draw(values), template)
        result = paths.find(filled, "GET")
        assert isinstance(result, PathMatch)
        assert result.value == template

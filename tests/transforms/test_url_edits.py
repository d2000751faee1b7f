"""Edits of a query string: their order, templates, and the bytes of other parameters."""

import pytest

from engine.transforms.template import TemplateValues, parse
from engine.transforms.url_edits import PathEdit, PathForms, QueryEdits
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange


def edited(raw, **edits):
    def templates(kind):
        return {name: parse(text, upstream=False) for name, text in edits.get(kind, {}).items()}

    compiled = QueryEdits(
        frozenset(edits.get("remove", ())),
        edits.get("rename", {}),
        templates("default"),
        templates("set"),
    )
    return compiled.apply(raw, TemplateValues(new_exchange(query="v=x%26y%3d&w=1")))


@pytest.mark.parametrize(
    ("raw", "edits", "after"),
    [
        ("", {}, ""),
        ("a=1&b=%7E", {"remove": ["a"]}, "b=%7E"),
        ("%61=1&b=%7E+", {"remove": ["a", "z"]}, "b=%7E+"),
        ("a=1&a=2&b=3", {"set": {"a": "9"}}, "a=9&b=3"),
        ("b=3", {"set": {"a b": "&="}}, "b=3&a%20b=%26%3D"),
        ("", {"set": {"a": "{request.query.v}"}}, "a=x%26y%3D"),
        ("a=1", {"set": {"a": "{request.query.z}"}}, "a=1"),
        ("a=1", {"default": {"a": "2", "b": "3"}}, "a=1&b=3"),
        ("a=1&b&%61=2%20", {"rename": {"a": "c d"}}, "c%20d=1&b&c%20d=2%20"),
        ("b&a", {"rename": {"b": "c"}}, "c&a"),
        ("a=1&c=2", {"rename": {"a": "c"}}, "c=2"),
        ("A=1&a[0]=2&b=3", {"remove": ["a"]}, "b=3"),
        ("A=1&b=3", {"set": {"a": "9"}}, "b=3&a=9"),
        ("A=1", {"set": {"a": "{request.query.z}"}}, "A=1"),
        ("A=1", {"default": {"a": "2"}}, "A=1&a=2"),
        ("a=1", {"rename": {"a": "c"}, "default": {"c": "2"}}, "c=1"),
        ("b=1", {"rename": {"a": "c"}, "default": {"c": "2"}}, "b=1&c=2"),
    ],
)
def test_a_query_is_edited(raw, edits, after):
    assert edited(raw, **edits) == after


def test_a_query_that_cannot_be_split_is_refused():
    with pytest.raises(GatewayError) as excinfo:
        edited("%ff=1", remove=["a"])
    assert (excinfo.value.status, excinfo.value.code) == (400, "invalid_value")


def template(text):
    return parse(text, upstream=True)


def values(path="/chat", model="a/b c"):
    return TemplateValues(new_exchange(), "main", model, path)


FORMS = PathForms(template("/{target.model}:raw"), template("/{target.model}:stream"))


def test_values_are_percent_encoded_and_the_path_is_not():
    edit = PathEdit({}, template("/x y/{target.model}{target.path}"))
    assert edit.apply(values("/a%20b/c"), stream=False) == "/x y/a%2Fb%20c/a%20b/c"


@pytest.mark.parametrize(
    ("path", "stream", "after"),
    [
        ("/chat", False, "/m:raw"),
        ("/chat", True, "/m:stream"),
        ("/other", True, "/other"),
    ],
)
def test_a_path_has_its_own_template_and_one_for_streams(path, stream, after):
    edit = PathEdit({"/chat": FORMS})
    assert edit.apply(values(path, "m"), stream=stream) == after


def test_the_form_of_streams_is_asked_for_only_where_it_differs():
    edit = PathEdit({"/chat": FORMS, "/same": PathForms(FORMS.plain, FORMS.plain)})
    paths = ["/chat", "/same", "/other"]
    assert [edit.depends_on_stream(path) for path in paths] == [True, False, False]


def test_a_path_without_a_value_stays():
    edit = PathEdit({}, template("/x/{target.model}"))
    assert edit.apply(values(model=""), stream=False) == "/chat"


@pytest.mark.parametrize("model", ["..", ".", "%2e%2e", "a\r\nb"])
def test_a_path_that_leads_elsewhere_raises(model):
    edit = PathEdit({}, template("/x/{target.model}/y"))
    with pytest.raises(GatewayError, match="it has a") as excinfo:
        edit.apply(values(model=model), stream=False)
    assert excinfo.value.status == 400


def test_a_path_that_leads_elsewhere_without_a_value_is_a_fault_of_the_config():
    with pytest.raises(ValueError, match="it has a dot segment"):
        PathEdit({}, template("/x/../y")).apply(values(), stream=False)


def test_a_value_does_not_take_a_segment_away():
    edit = PathEdit({}, template("/x/{request.query.tenant}/y"))
    with pytest.raises(GatewayError, match="it is empty"):
        edit.apply(TemplateValues(new_exchange(query="tenant=")), stream=False)

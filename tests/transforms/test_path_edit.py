"""Paths from templates: values add no segment, and no path leads elsewhere."""

import pytest

from engine.transforms.path_edit import PathEdit, PathForms
from engine.transforms.template import TemplateValues, parse
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange


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

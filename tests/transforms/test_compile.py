"""Compiling a transform; the words of its mistakes are cases in tests/cases/configs."""

from engine.config.transforms import TransformConfig
from engine.transforms.compile import compile_transform
from engine.transforms.faults import Faults


def faults_of(request, *, upstream=True, **more):
    faults = Faults()
    config = TransformConfig({"request": request}, ("upstreams", "main", "transform"))
    compile_transform(config, upstream=upstream, faults=faults, **more)
    return [(fault.code, fault.at) for fault in faults.found]


def test_the_names_of_headers_are_the_same_in_any_case():
    header = {"set": {"X-A": "1"}, "remove": ["x-a"]}
    assert faults_of({"header": header}) == [("MW363", ("request", "header", "set", "X-A"))]


def test_a_default_may_follow_a_rename_to_its_name():
    query = {"rename": {"a": "b"}, "default": {"b": "1"}}
    assert faults_of({"query": query}) == []


def test_the_names_of_parameters_have_a_case():
    assert faults_of({"query": {"set": {"A": "1"}, "remove": ["a"]}}) == []


def test_a_path_is_not_edited_on_the_callers_side():
    assert faults_of({"path": "/x"}, upstream=False) == [("MW362", ("request", "path"))]


def test_what_holds_a_credential_is_not_edited():
    query = {"remove": ["key", "x-key"]}
    credentials = [("query", "key"), ("header", "x-key")]
    assert faults_of({"query": query}, credentials=credentials) == [
        ("MW362", ("request", "query", "remove", 0))
    ]


def test_a_list_stands_in_bodies_alone():
    text = "{request.headers.x-a}"
    assert faults_of({"body": {"set": {"a": text, "b": [{"c": text}]}}}) == []
    assert faults_of({"header": {"set": {"x-b": text}}, "query": {"default": {"q": text}}}) == [
        ("MW361", ("request", "header", "set", "x-b")),
        ("MW361", ("request", "query", "default", "q")),
    ]

"""The places that edits of a body touch do not overlap."""

import pytest

from engine.config.transforms import TransformConfig
from engine.transforms.compile import compile_transform
from engine.transforms.faults import Faults


def faults_of(**body):
    faults = Faults()
    config = TransformConfig({"request": {"body": body}}, ())
    compile_transform(config, upstream=False, faults=faults)
    return [(fault.code, fault.at[2:]) for fault in faults.found]


@pytest.mark.parametrize(
    "body",
    [
        {"remove": ["a"], "set": {"b": 1}, "rename": {"c": "d"}},
        {"rename": {"a": "b"}, "default": {"b": 1}},
        {"prepend": {"a": [1]}, "append": {"a": [2]}},
        {"append": {"a": [1]}, "remove": ["$.a[*].b"]},
        {"default": {"a": {}}, "set": {"/a/b": 1}},
        {"set": {"/a/b": 1, "/a/c": 1}},
        {"remove": ["$..b"], "set": {"a": 1}},
        {"default": {"a": 1}, "unless": {"/a": ["b"]}, "set": {"b": 1}},
    ],
)
def test_edits_that_do_not_overlap(body):
    assert faults_of(**body) == []


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ({"remove": ["a", "a"]}, ("remove", 1)),
        ({"remove": ["a"], "set": {"/a": 1}}, ("set", "/a")),
        ({"remove": ["a"], "set": {"/a/b": 1}}, ("set", "/a/b")),
        ({"set": {"/a/b": 1, "a": 1}}, ("set", "a")),
        ({"remove": ["$.a[*].b"], "set": {"/a/0/b": 1}}, ("set", "/a/0/b")),
        ({"rename": {"a": "b"}, "set": {"b": 1}}, ("set", "b")),
        ({"rename": {"a": "/a/b"}}, ("rename", "a")),
        ({"rename": {"a": "c", "b": "c"}}, ("rename", "b")),
        ({"default": {"a": 1}, "set": {"a": 2}}, ("set", "a")),
        ({"append": {"a": [1]}, "set": {"a": []}}, ("append", "a")),
        ({"default": {"b": 1}, "unless": {"a": ["c"]}}, ("unless", "a")),
    ],
)
def test_edits_that_overlap(body, at):
    assert faults_of(**body) == [("MW363", at)]


def test_a_default_belongs_to_the_name_that_a_rename_gives():
    faults = Faults()
    body = {"default": {"a": 1}, "rename": {"/a": "b"}}
    config = TransformConfig({"request": {"body": body}}, ())
    compile_transform(config, upstream=False, faults=faults)
    assert [fault.hint for fault in faults.found] == ["give the default to the new name, 'b'"]


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ({"remove": ["/a~2"]}, ("remove", 0)),
        ({"set": {"$.": 1}}, ("set", "$.")),
        ({"default": {"$.a[*]": 1}}, ("default", "$.a[*]")),
        ({"rename": {"a": "$..b"}}, ("rename", "a")),
        ({"set": {"a": "{x}"}}, ("set", "a")),
        ({"default": {"a": 1}, "unless": {"a": ["b", "$."]}}, ("unless", "a", 1)),
        ({"append": {"a": [1, {"b": "{x}"}]}}, ("append", "a", 1)),
        ({"set": {"a": 10**30}}, ("set", "a")),
    ],
)
def test_places_and_values_that_cannot_be_read(body, at):
    assert faults_of(**body) == [("MW361", at)]

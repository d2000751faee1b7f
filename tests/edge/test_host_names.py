"""Names of hosts and their patterns."""

import pytest

from engine.edge.host_names import host_name, host_pattern, wider_patterns


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("API.example.com", "api.example.com"),
        ("api.example.com:8443", "api.example.com"),
        ("api.example.com.", "api.example.com"),
        ("[::1]:80", "[::1]"),
        ("10.0.0.1:80", "10.0.0.1"),
        ("", ""),
        ("[::1", ""),
    ],
)
def test_a_host_header_has_a_name(field, name):
    assert host_name(field) == name


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("a.example.com", "a.example.com"),
        ("b.example.com", "*.example.com"),
        ("example.com", ""),
        ("c.b.example.com", ""),
        (".example.com", ""),
        ("", ""),
    ],
)
def test_a_wildcard_is_one_label_and_comes_after_the_name(name, pattern):
    assert host_pattern(name, ["", "*.example.com", "a.example.com"]) == pattern


@pytest.mark.parametrize(
    ("pattern", "wider"),
    [
        ("a.example.com", ("a.example.com", "*.example.com", "")),
        ("*.example.com", ("*.example.com", "")),
        ("localhost", ("localhost", "")),
        ("", ("",)),
    ],
)
def test_the_routes_of_a_host_are_those_of_wider_patterns_too(pattern, wider):
    assert wider_patterns(pattern) == wider

"""URLs of PostgreSQL with several hosts."""

import pytest

from engine.stores.database.database import open_database
from engine.stores.database.failures import BadUrl
from engine.stores.database.postgresql_url import display, hosts_of, parse_url, with_primary
from tests.support.each import each


@each(
    "url,hosts",
    [
        ("postgresql://u:p@a:1,b:2/db?connect_timeout=1", ["a:1", "b:2"]),
        ("postgresql://a,b/db", ["a:5432", "b:5432"]),
        ("postgresql://u@[::1]:1,[::2]:2/db", ["[::1]:1", "[::2]:2"]),
        ("postgresql://u@/db?host=a:1&host=b:2", ["a:1", "b:2"]),
        ("postgresql://u@/db?host=a,b&port=1,2", ["a:1", "b:2"]),
        ("postgresql://u@/db?host=a,b", ["a", "b"]),
        ("postgresql://u@a:1/db", []),
        ("sqlite:///var/a,b.db", []),
    ],
)
def test_the_hosts_of_a_url(url, hosts):
    assert hosts_of(parse_url(url)) == hosts


@each(
    "url,expected",
    [
        ("postgresql://a,b/db", "read-write"),
        ("postgresql://a,b/db?target_session_attrs=any", "any"),
        ("postgresql://a/db", None),
    ],
)
def test_of_several_hosts_the_primary_is_asked_for(url, expected):
    assert with_primary(parse_url(url)).query.get("target_session_attrs") == expected


@each(
    "url,expected",
    [
        ("postgresql://u:geheim@a:1,b:2/db", "postgresql://u:***@a:1,b:2/db"),
        ("postgresql://u:geheim@/db?host=a,b&password=geheim", "postgresql://u:***@a,b/db"),
        ("postgresql://a,b/db", "postgresql://a:5432,b:5432/db"),
        ("postgresql://u:geheim@a:1/db?password=geheim", "postgresql://u:***@a:1/db"),
        ("sqlite:////var/a.db", "sqlite:////var/a.db"),
    ],
)
def test_the_hosts_are_shown_and_no_password(url, expected):
    assert display(parse_url(url)) == expected


@pytest.mark.parametrize("url", ["postgresql://a:x,b:2/db", "postgresql://a,,b/db"])
def test_an_invalid_host_is_refused(url):
    with pytest.raises(BadUrl):
        open_database(url)

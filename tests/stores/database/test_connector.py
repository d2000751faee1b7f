"""Which host of a database is connected to, and how a pooler is detected."""

from types import SimpleNamespace

import gevent
import pytest

from engine.stores.database.connector import (
    SESSION_LIMITS,
    Connector,
    display,
    hosts_of,
    parse_url,
    with_primary,
)
from engine.stores.database.failures import BadUrl
from engine.stores.database.open_database import open_database
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


READ_WRITE = {"host": "a,b", "port": "1,2", "target_session_attrs": "read-write"}


class Away(Exception):
    """The driver's error."""


class Connection:
    """A connection of the driver to a server, `read_only` or not."""

    def __init__(self, read_only):
        self.read_only = read_only
        self.closed = False

    def execute(self, statement):
        assert statement == "SHOW transaction_read_only"
        return SimpleNamespace(fetchone=lambda: ("on" if self.read_only else "off",))

    def rollback(self):
        pass

    def close(self):
        self.closed = True


class Driver:
    """SQLAlchemy's dialect, with the servers that its driver reaches: `answers` by host, each a
    connection or an exception."""

    loaded_dbapi = SimpleNamespace(OperationalError=Away)

    def __init__(self, **answers):
        self.answers = answers
        self.attempts = []
        self.options = {}

    def connect(self, **options):
        self.attempts.append(f"{options['host']}:{options.get('port')}")
        self.options = options
        answer = self.answers[options["host"]]
        if "options" in options and isinstance(answer, Connection) and answer.read_only is None:
            raise Away("unsupported startup parameter: options")
        if isinstance(answer, BaseException):
            raise answer
        return answer


def test_hosts_are_tried_in_turn():
    driver = Driver(a=Away("down"), b=Connection(False))
    assert Connector().connect(driver, (), READ_WRITE) is driver.answers["b"]
    assert driver.attempts == ["a:1", "b:2"]


def test_the_host_of_the_last_connection_is_tried_first():
    driver, connector = Driver(a=Away("down"), b=Connection(False)), Connector()
    connector.connect(driver, (), READ_WRITE)
    connector.connect(driver, (), READ_WRITE)
    assert driver.attempts == ["a:1", "b:2", "b:2"]


def test_a_host_that_does_not_answer_in_time_delays_one_attempt():
    driver, connector = Driver(a=gevent.Timeout(1), b=Connection(False)), Connector()
    with pytest.raises(gevent.Timeout):
        connector.connect(driver, (), READ_WRITE)
    connector.connect(driver, (), READ_WRITE)
    assert driver.attempts == ["a:1", "b:2"]


def test_without_a_primary_the_last_error_is_raised():
    driver = Driver(a=Away("down"), b=Away("session is read-only"))
    with pytest.raises(Away, match="read-only"):
        Connector().connect(driver, (), READ_WRITE)


@pytest.mark.parametrize("options", [{"host": "a"}, READ_WRITE | {"target_session_attrs": "any"}])
def test_anything_else_is_left_to_the_driver(options):
    driver = Driver(**{options["host"]: Connection(True)})
    Connector().connect(driver, (), options)
    assert driver.attempts == [f"{options['host']}:{options.get('port')}"]
    assert driver.options == options


def test_a_pooler_is_detected_by_what_it_refuses():
    driver, connector = Driver(a=Connection(None)), Connector()
    for _ in range(2):
        connector.connect(driver, (), {"host": "a", "options": SESSION_LIMITS})
    assert connector.pooled
    assert driver.attempts == ["a:None"] * 3
    assert driver.options == {"host": "a"}


def test_options_of_the_operator_that_are_refused_are_an_error():
    with pytest.raises(Away, match="unsupported"):
        Connector().connect(
            Driver(a=Connection(None)), (), {"host": "a", "options": "-c work_mem=1GB"}
        )


def test_a_server_behind_a_pooler_is_asked_itself():
    """The pooler tells the driver what its server was when it connected."""
    driver, connector = Driver(a=Connection(True), b=Connection(False)), Connector()
    connector.pooled = True
    assert connector.connect(driver, (), READ_WRITE) is driver.answers["b"]
    assert driver.answers["a"].closed
    assert driver.options["target_session_attrs"] == "any"

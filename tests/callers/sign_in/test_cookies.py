"""Cookies are for the whole origin, unreadable for scripts, and never another host's."""

from engine.callers.sign_in.cookies import MAX_VALUE, Cookie
from tests.support.each import each

COOKIE = Cookie("session", "Strict", has_tls=True)


def test_a_cookie_is_bound_to_its_host_and_to_tls():
    expected = "__Host-modelway-session=v; Path=/; Max-Age=60; HttpOnly; Secure; SameSite=Strict"
    assert COOKIE.set("v", 60.5) == expected


def test_without_tls_it_has_no_prefix():
    cookie = Cookie("session", "Lax", has_tls=False)
    expected = "modelway-session=v; Path=/; Max-Age=60; HttpOnly; SameSite=Lax"
    assert cookie.set("v", 60) == expected


def test_it_is_cleared_by_its_age():
    assert COOKIE.clear().startswith("__Host-modelway-session=; Path=/; Max-Age=0;")


@each(
    ("header", "value"),
    [
        (None, ""),
        ("", ""),
        ("__Host-modelway-session=v", "v"),
        ("a=b; __Host-modelway-session=v; c=d", "v"),
        ("modelway-session=v", ""),
        ("__host-modelway-session=v", ""),
        ("__Host-modelway-session=v; __Host-modelway-session=w", ""),
        (f"__Host-modelway-session={'v' * (MAX_VALUE + 1)}", ""),
    ],
)
def test_the_one_cookie_of_the_name_is_read(header, value):
    environ = {} if header is None else {"HTTP_COOKIE": header}
    assert COOKIE.read(environ) == value

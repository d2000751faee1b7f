"""Where a request comes from."""

import pytest

from engine.values.client_address import caller_address, networks, within

PROXIES = networks(["10.0.0.0/8", "::1"])


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("1.2.3.4", None, "1.2.3.4"),
        ("1.2.3.4", "6.6.6.6", "1.2.3.4"),  # a stranger says what he likes
        ("10.0.0.1", "1.2.3.4", "1.2.3.4"),
        ("10.0.0.1", "6.6.6.6, 1.2.3.4", "1.2.3.4"),  # only the last one was written by a proxy
        ("10.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.2", "1.2.3.4"),
        ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
        ("10.0.0.1", "junk", "junk"),
        ("10.0.0.1", "", ""),
        ("::1", "2001:db8::1", "2001:db8::1"),
        ("", "1.2.3.4", "1.2.3.4"),  # a Unix socket: whoever connects is our proxy
        ("10.0.0.1", None, "10.0.0.1"),
    ],
)
def test_the_address_is_what_trusted_proxies_say(peer, forwarded, address):
    environ = {"REMOTE_ADDR": peer}
    if forwarded is not None:
        environ["HTTP_X_FORWARDED_FOR"] = forwarded
    assert caller_address(environ, PROXIES) == address


def test_without_trusted_proxies_nobody_is_believed():
    environ = {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "1.2.3.4"}
    assert caller_address(environ, ()) == "10.0.0.1"


@pytest.mark.parametrize(
    ("address", "inside"),
    [
        ("10.1.2.3", True),
        ("::ffff:10.1.2.3", True),
        ("11.0.0.1", False),
        ("::1", True),
        ("fe80::1%eth0", False),
        ("junk", False),
        ("", False),
        ("10.0.0.1:80", False),
    ],
)
def test_within_networks(address, inside):
    assert within(address, PROXIES) is inside
    assert not within(address, ())


@pytest.mark.parametrize("text", ["proxy", "10.0.0.1/8", "10.0.0.0/33", "1.2.3", "", "::1/129"])
def test_an_invalid_network_is_named_in_the_error(text):
    with pytest.raises(ValueError, match="not an address or network"):
        networks([text])

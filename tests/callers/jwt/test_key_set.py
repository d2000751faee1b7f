import gevent
import pytest

from engine.callers.jwt.cached_load import MAX_AGE, MIN_INTERVAL, STALE_AGE
from engine.callers.jwt.key_set import KeySet
from engine.callers.jwt.refusal import KeysUnavailable
from tests.support.clock import Clock
from tests.support.signed_tokens import ec_key, jwk, key_set, rsa_key


class Issuer:
    """Its keys, and how often they were asked for; None: it does not answer."""

    def __init__(self, keys):
        self.keys, self.asked = keys, 0
        self.clock = Clock(1000.0)
        self.set = KeySet("issuer", self.load, self.clock)

    def load(self):
        self.asked += 1
        if self.keys is None:
            raise KeysUnavailable("away")
        return self.keys


def test_keys_are_fetched_when_they_are_needed():
    issuer = Issuer(key_set())
    assert issuer.asked == 0
    assert issuer.set.find("ec", "ES256") is issuer.set.find("ec", "ES256")
    assert issuer.asked == 1


def test_all_who_wait_for_keys_wait_for_one_answer():
    issuer = Issuer(key_set())
    tasks = [gevent.spawn(issuer.set.find, "ec", "ES256") for _ in range(5)]
    assert all(task.get() for task in tasks)
    assert issuer.asked == 1


def test_an_unknown_key_is_asked_for_once_in_a_while():
    issuer = Issuer(key_set())
    issuer.set.find("ec", "ES256")
    for number in range(1_000):
        assert issuer.set.find(f"unknown-{number}", "ES256") is None
    assert issuer.asked == 1
    issuer.clock.now += MIN_INTERVAL
    issuer.keys = [*key_set(), jwk(ec_key(1), "new")]
    assert issuer.set.find("new", "ES256") is not None
    assert issuer.asked == 2


def test_old_keys_are_used_while_new_ones_are_fetched_and_the_issuer_is_away():
    issuer = Issuer(key_set())
    issuer.set.find("ec", "ES256")
    issuer.keys = None
    issuer.clock.now += MAX_AGE + STALE_AGE
    assert issuer.set.find("ec", "ES256") is not None
    gevent.sleep(0)
    assert issuer.asked == 2
    issuer.clock.now += MIN_INTERVAL
    with pytest.raises(KeysUnavailable, match="away"):
        issuer.set.find("ec", "ES256")


def test_a_key_that_is_gone_is_not_found():
    issuer = Issuer(key_set())
    issuer.set.find("ec", "ES256")
    version, issuer.keys = issuer.set.version, [jwk(rsa_key(), "rsa")]
    issuer.clock.now += MAX_AGE + 1
    issuer.set.renew()
    gevent.sleep(0)
    assert issuer.set.find("ec", "ES256") is None
    assert issuer.set.version != version


def test_a_new_key_at_the_same_place_is_used():
    issuer = Issuer([jwk(ec_key(), "key")])
    before = issuer.set.find("key", "ES256")
    issuer.keys = [jwk(ec_key(1), "key")]
    issuer.clock.now += MAX_AGE + 1
    issuer.set.renew()
    gevent.sleep(0)
    after = issuer.set.find("key", "ES256")
    assert after.key.public_numbers() == ec_key(1).public_key().public_numbers()
    assert after.key.public_numbers() != before.key.public_numbers()


def test_one_key_serves_each_algorithm_of_its_type():
    keys = Issuer([jwk(rsa_key(), "rsa")]).set
    assert [keys.find("rsa", name).algorithm_name for name in ("RS256", "PS256")] == [
        "RS256",
        "PS256",
    ]


def test_keys_that_cannot_be_read_are_no_keys():
    def load():
        raise RecursionError

    with pytest.raises(KeysUnavailable, match="cannot be read"):
        KeySet("issuer", load, Clock(0.0)).find("ec", "ES256")


def test_an_issuer_that_never_answered_is_asked_again_soon():
    issuer = Issuer(None)
    for _ in range(10):
        with pytest.raises(KeysUnavailable):
            issuer.set.find("ec", "ES256")
    assert issuer.asked == 1
    issuer.clock.now += 1.0
    issuer.keys = key_set()
    assert issuer.set.find("ec", "ES256") is not None


def test_without_a_name_only_the_one_key_that_fits_is_used():
    assert Issuer(key_set()).set.find(None, "ES256") is not None
    assert Issuer([*key_set(), jwk(ec_key(1), "2")]).set.find(None, "ES256") is None


@pytest.mark.parametrize("kid", [None, "ec"])
@pytest.mark.parametrize("at", [0, 1])
def test_a_key_that_cannot_be_used_does_not_hide_one_that_can(kid, at):
    keys = [jwk(ec_key(), "ec")]
    keys.insert(at, jwk(ec_key(1), "ec") | {"x": "AA"})
    key = Issuer(keys).set.find(kid, "ES256")
    assert key.key.public_numbers() == ec_key().public_key().public_numbers()


def test_keys_of_other_types_do_not_count_without_a_name():
    keys = [jwk(ec_key(), "ec"), jwk(rsa_key(), "rsa"), {"kty": "oct", "k": "c2VjcmV0"}]
    for key in keys:
        key.pop("alg", None)
    assert Issuer(keys).set.find(None, "RS256") is not None


def test_a_key_without_a_name_is_not_that_of_a_token_with_one():
    key = jwk(ec_key(), "ec")
    del key["kid"]
    assert Issuer([key]).set.find("ec", "ES256") is None


@pytest.mark.parametrize(
    ("members", "algorithm"),
    [
        ({"use": "enc"}, "ES256"),
        ({"alg": "ES384"}, "ES256"),
        ({"key_ops": ["sign"]}, "ES256"),
        ({"key_ops": "verify"}, "ES256"),
        ({"kty": "oct", "k": "c2VjcmV0"}, "ES256"),
        ({"crv": "P-384"}, "ES256"),
        ({"x": "AA"}, "ES256"),
        ({"x": 1}, "ES256"),
        ({}, "ES384"),
        ({}, "RS256"),
        ({}, "EdDSA"),
    ],
)
def test_a_key_that_does_not_fit_is_not_used(members, algorithm):
    issuer = Issuer([jwk(ec_key(), "key") | members])
    assert issuer.set.find("key", algorithm) is None


def test_the_number_of_keys_is_bounded():
    issuer = Issuer([jwk(ec_key(), str(number)) for number in range(200)])
    assert issuer.set.find("99", "ES256") is not None
    assert issuer.set.find("100", "ES256") is None

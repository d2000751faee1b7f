"""`client_secrets:`: a ring of keys that nobody guesses."""

from engine.config.client_secrets import ClientSecrets
from tests.support.configs import read_config, read_errors
from tests.support.each import each

KEY = "0123456789abcdef0123456789abcdef"
OTHER = KEY[::-1]


def test_there_are_no_keys_by_default():
    assert read_config("").client_secrets == ClientSecrets(())


def test_the_keys_stay_in_their_order_without_empty_ones():
    config = read_config(f"client_secrets: {{keys: ['{OTHER}', '', '{KEY}']}}")
    assert config.client_secrets.keys == (OTHER, KEY)


@each(
    ("keys", "column"),
    [("[short]", 25), (f"['{'ab' * 40}']", 25), (f"['{KEY}', '{KEY}']", 25 + len(KEY) + 4)],
)
def test_a_key_that_is_short_or_simple_or_twice_is_an_error(keys, column):
    assert read_errors(f"client_secrets: {{keys: {keys}}}") == [(4, column, "MW104")]

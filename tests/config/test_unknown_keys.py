"""What an unknown key means: one beside it, one of another program, or one of another place."""

import pytest

from engine.config import keys
from engine.config.json_schema import schema
from engine.config.unknown_keys import elsewhere, meaning_of
from tests.support.each import each

UPSTREAM = schema()["$defs"]["upstream"]["properties"]
AT_UPSTREAM = ("upstreams", "main")


@pytest.mark.parametrize(
    ("key", "hint", "name"),
    [
        ("timeout", "did you mean 'timeouts'?", "timeouts"),
        ("maxInFlight", "did you mean 'max_in_flight'?", "max_in_flight"),
        ("api_base", "did you mean 'url'?", "url"),
        ("connect", "'connect' belongs under 'timeouts'", ""),
        ("first_byte", "'first_byte' belongs under 'timeouts'", ""),
        ("verify", "'verify' belongs under 'tls'", ""),
        ("max_body", "'max_body' belongs under 'server' or in the list 'policies'", ""),
        ("weight", "'weight' belongs in an entry of 'to'", ""),
        ("price", "'prices' belongs at the top of the file or in an entry of 'teams'", ""),
        ("url\u00a0", "it has a no-break space (U+00A0); write 'url'", "url"),
        ("url:https", "write 'url: https', with a space behind the colon", "url"),
    ],
)
def test_a_key_in_an_upstream_has_a_meaning(key, hint, name):
    meaning = meaning_of(key, None, UPSTREAM, AT_UPSTREAM)
    assert (meaning.hint, meaning.key) == (hint, name)


def test_a_target_as_a_key_of_a_model_is_written_as_a_list():
    known = schema()["$defs"]["model"]["properties"]
    meaning = meaning_of("upstream", "main", known, ("models", "small"))
    assert (meaning.hint, meaning.key) == ("write to: [{upstream: ...}]", "to")


def test_a_key_that_resembles_nothing_gets_the_list_of_those_there_are():
    known = {"size": {}, "wait": {}}
    at = (*AT_UPSTREAM, "queue")
    assert meaning_of("zebra", 1, known, at).hint == "known: size, wait"


@each("key", [key for key in keys.root().all() if key.path and key.path[-1] != keys.ENTRY])
def test_every_key_has_a_place_to_which_it_belongs(key):
    if key.path[0] != "tests":
        assert f"'{key.path[-1]}' belongs" in elsewhere(str(key.path[-1]))


def test_a_name_that_is_no_key_belongs_nowhere():
    assert elsewhere("zebra") == ""

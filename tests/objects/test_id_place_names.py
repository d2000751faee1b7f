"""The places that a JSON text may have, by the names in it."""

import pytest

from engine.dialects.gemini.proto_json import json_name
from engine.objects.id_place_names import PlaceNames
from engine.objects.id_places import REQUEST, read_place

FILE = read_place("file", "body#/messages/*/file/fileId", REQUEST)
VOICE = read_place("voice", "body#/audio/voice/id", REQUEST)
ANY = read_place("file", "body#/*", REQUEST)
HYPHEN = read_place("file", "body#/a-b/id", REQUEST)
CALL = b'{"messages": [{"tool_calls": [{"id": "call_1"}]}]}'


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (CALL, []),
        (b'{"audio": {"voice": {"id": "v"}}}', [VOICE]),
        (b'{"voice": {"id": "v"}}', []),
        (b'{"messages": [{"file": {"fileId": "f"}}]}', [FILE]),
    ],
)
def test_a_text_has_a_place_whose_names_it_all_has(text, places):
    assert PlaceNames([FILE, VOICE]).places_in(text) == places


def test_either_spelling_of_a_member_counts():
    text = b'{"messages": [{"file": {"file_id": "f"}}]}'
    assert PlaceNames([FILE]).places_in(text) == []
    assert PlaceNames([FILE], json_name).places_in(text) == [FILE]


def test_names_of_texts_in_lower_case():
    text = b'{"Messages": [{"file": {"FileID": "f"}}]}'
    assert PlaceNames([FILE], json_name).places_in(text.lower()) == []
    assert PlaceNames([FILE], json_name, lower=True).places_in(text.lower()) == [FILE]


@pytest.mark.parametrize("place", [ANY, HYPHEN])
def test_a_place_whose_names_are_not_known_may_be_in_any_text(place):
    names = PlaceNames([place, VOICE])
    assert (names.places_in(CALL), names.are_known) == ([place], False)


def test_last_names_are_counted_once_however_many_places_have_them():
    other = read_place("voice", "body#/other/id", REQUEST)
    names = PlaceNames([VOICE, other])
    assert names.are_known
    assert names.count(b'{"id": 1, "x": {"id": 2}}', [VOICE, other]) == 2
    assert names.count(b'{"id": 1, "x": {"id": 2}}', []) == 0

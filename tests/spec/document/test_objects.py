"""The table of the objects of OpenAPI is consistent in itself."""

from engine.spec.document.objects import BOUNDS, OBJECTS

VALUES = {"text", "name", "flag", "location", "mapping"}


def test_every_form_is_known_and_belongs_to_a_key_of_its_object():
    for kind in OBJECTS.values():
        assert {form.rstrip("*[]") for form in kind.forms.values()} <= VALUES | OBJECTS.keys()
        assert kind.forms.keys() <= kind.keys | kind.other_keys


def test_no_key_is_of_two_importances():
    assert all(not kind.keys & kind.other_keys for kind in OBJECTS.values())


def test_bounds_are_keys_of_schemas():
    assert set(BOUNDS.split()) <= OBJECTS["schema"].keys

"""The store of the mock's objects: what is known, what is unknown, and what was deleted."""

from __future__ import annotations

import pytest

from engine.mock import object_store
from engine.mock.object_store import ObjectStore
from engine.values.errors import GatewayError


def status(store, id_):
    """What is said of an object: its value, None if nothing is known of it, or an HTTP status."""
    try:
        entry = store.find("/papers", id_)
    except GatewayError as error:
        return error.status
    return entry and entry.value


@pytest.mark.parametrize(("is_strict", "unknown"), [(True, 404), (False, None)])
def test_an_object_that_was_never_kept_is_unknown_or_does_not_exist(is_strict, unknown):
    store = ObjectStore(is_strict)
    assert status(store, "a") == unknown
    store.keep("/papers", "a", {"id": "a"})
    assert status(store, "a") == {"id": "a"}


@pytest.mark.parametrize("is_strict", [True, False])
def test_a_deleted_object_does_not_exist_until_it_is_kept_again(is_strict):
    store = ObjectStore(is_strict)
    store.keep("/papers", "a", {"number": 1})
    store.delete("/papers", "a")
    assert status(store, "a") == 404
    assert store.listed("/papers") == {}
    store.keep("/papers", "a", {"number": 2})
    assert status(store, "a") == {"number": 2}


@pytest.mark.parametrize(("is_strict", "listed"), [(True, {}), (False, None)])
def test_a_collection_in_which_nothing_was_kept_is_empty_or_unknown(is_strict, listed):
    assert ObjectStore(is_strict).listed("/papers") == listed


def test_the_oldest_make_room(monkeypatch):
    monkeypatch.setattr(object_store, "MAX_OBJECTS", 2)
    store = ObjectStore(is_strict=False)
    for id_ in "abc":
        store.keep("/papers", id_, {"id": id_})
    assert list(store.listed("/papers")) == ["b", "c"]
    store.delete("/papers", "b")
    for id_ in "cd":
        store.keep("/papers", id_, {"id": id_})
        store.delete("/papers", id_)
    assert [status(store, id_) for id_ in "bcd"] == [None, 404, 404]

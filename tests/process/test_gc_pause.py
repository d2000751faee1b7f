"""No collection of garbage while what stays is made."""

import gc

import pytest

from engine.process.gc_pause import no_collection, release_memory


@pytest.fixture
def enabled():
    yield gc.isenabled()
    gc.enable()


def test_nothing_is_collected_within(enabled):
    assert enabled
    with no_collection():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off(enabled):
    gc.disable()
    with no_collection():
        pass
    assert not gc.isenabled()


def test_keep_freezes_the_existing_objects(enabled):
    try:
        with no_collection(keep=True):
            pass
        assert gc.get_freeze_count() > 10_000
    finally:
        gc.unfreeze()


def test_an_error_turns_the_collector_on_again(enabled):
    with pytest.raises(ValueError, match="wrong"), no_collection():
        raise ValueError("wrong")
    assert gc.isenabled()


def test_release_memory_freezes_the_remaining_objects() -> None:
    try:
        release_memory()
        assert gc.get_freeze_count() > 10_000
    finally:
        gc.unfreeze()

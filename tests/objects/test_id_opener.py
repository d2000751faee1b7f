"""One sealed id: for whom it opens, and what is refused."""

import pytest

from engine.exchange.opened_ids import Holder, OpenedIds
from engine.objects.id_opener import IdOpener, vendor_ids
from engine.objects.sealed_ids import NOBODY, Identity, Sealer
from engine.values.errors import GatewayError
from tests.support.each import each

SEALER = Sealer(["a key for tests " * 4], ["alpha", "beta"])
OWNER, OTHER = b"owner--1", b"owner--2"
ALPHA, BETA = Holder("alpha"), Holder("beta")


def sealed(vendor_id="file-1", kind="file", owner=OWNER, holder=ALPHA):
    return SEALER.seal(Identity(vendor_id, holder, owner), kind)


MINE, THEIRS = sealed(), sealed(owner=OTHER)


def opener(*, everybody=False, passes=False):
    return IdOpener(SEALER, everybody=everybody, passes=passes)


def refusal(text, *, passes=False, owner=OWNER, kind="file", **options):
    with pytest.raises(GatewayError) as raised:
        opener(passes=passes).open(text, kind, "", OpenedIds(owner), **options)
    return raised.value


def test_an_id_of_the_caller_opens_and_says_where_its_object_is():
    opened = OpenedIds(OWNER)
    assert opener().open(MINE, "file", "", opened) == "file-1"
    assert (opened.holder, opened.kind) == (ALPHA, "file")
    assert [*vendor_ids(opened)] == [(b"file-1", MINE.encode())]


def test_an_id_and_its_text_lack_the_same_prefix():
    text = sealed("files/a").removeprefix("files/")
    assert opener().open(text, "file", "files/", OpenedIds(OWNER)) == "a"


@each(
    "text",
    [
        *(THEIRS, "file-1", "file-", MINE[:-1], MINE + "A", MINE.swapcase(), f" {MINE}"),
        *(sealed(kind="batch"), "x" * 3000, sealed().replace("file-", "file_"), "..", "mw"),
    ],
)
def test_an_id_that_is_not_the_callers_is_one_404(text):
    error, expected = refusal(text), refusal("file-9")
    assert (error.status, error.code, error.message) == (404, expected.code, expected.message)


def test_with_everybody_the_ids_of_others_open():
    assert opener(everybody=True).open(THEIRS, "file", "", OpenedIds(OWNER)) == "file-1"


def test_ids_from_before_the_switch_may_pass():
    assert opener(passes=True).open("file-9", "file", "", OpenedIds(OWNER)) is None


@each("text", [THEIRS, MINE[:-1], sealed(kind="b")])
def test_sealed_ids_that_do_not_open_never_pass(text):
    assert refusal(text, passes=True).status == 404


@each(
    ("other", "words"),
    [
        (BETA, "a file at 'alpha', and a batch at 'beta'"),
        (Holder("alpha", 1), "'alpha' (credential 1), and a batch at 'alpha' (credential 2)"),
    ],
)
def test_ids_of_two_places_are_refused_by_their_names(other, words):
    opened = OpenedIds(OWNER)
    opener().open(MINE, "file", "", opened)
    with pytest.raises(GatewayError) as raised:
        opener().open(sealed("batch_1", "batch", holder=other), "batch", "", opened)
    assert raised.value.status == 400
    assert words in raised.value.message


def test_another_owners_id_at_another_place_is_no_400():
    """It would say where the object of another caller lives."""
    opened = OpenedIds(OWNER)
    opener().open(MINE, "file", "", opened)
    with pytest.raises(GatewayError) as raised:
        opener().open(sealed("batch_1", "batch", OTHER, BETA), "batch", "", opened)
    assert raised.value.status == 404


def test_a_bearer_without_a_token_asks_for_the_owner_of_the_id():
    opened = OpenedIds(NOBODY)
    opener().open(MINE, "file", "", opened, bearer=True)
    assert opened.owner == OWNER


def test_a_bearer_with_a_token_stands_for_nobody_else():
    assert refusal(MINE, owner=OTHER, bearer=True).status == 404


def test_a_forged_id_bears_nothing():
    assert refusal(MINE[:-2] + "AA", owner=NOBODY, bearer=True).status == 404

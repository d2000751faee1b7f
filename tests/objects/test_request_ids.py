"""Ids in paths, queries and headers, and whose requests they make."""

from engine.objects.facts_reader import read_facts
from engine.objects.id_opener import IdOpener, vendor_ids
from engine.objects.request_ids import RequestIds
from engine.objects.sealed_ids import NOBODY
from tests.support.each import each
from tests.support.exchanges import new_exchange
from tests.support.sealed_ids import ALPHA, MINE, OTHER, OWNER, SEALER, opened, refusal, sealed


@each(
    ("facts", "signs"),
    [
        ({"names": {"voice": "body#/audio/voice/id"}}, [b'"voice"']),
        ({"names": {"file": "body#/messages/*/content/*/file/file_id"}}, [b'"file_id"']),
        ({"names": {"a": "body#/id"}, "when": "body#/store"}, [b'"store"', b'"id"']),
        ({"names": {"a": "body#/id"}, "when": "body#/st ore"}, None),
        ({"names": {"a": "body#/*"}}, None),
        ({"names": {"a": ["body#/id", "query.id"]}}, None),
        ({"names": {"a": "body#/id"}, "creates": {"b": "body#/id"}}, None),
        ({"names": {"a": "body#/id"}, "turns": "continue"}, None),
        ({"names": {"a": "body#/id"}, "lists": {"kind": "a"}}, None),
    ],
)
def test_the_signs_of_ids_in_json(facts, signs):
    read, faults = read_facts(facts)
    assert faults == []
    opener = IdOpener(SEALER, everybody=False, passes=False)
    ids = RequestIds(read, opener, lambda exchange: None)
    assert ids.signs == (() if signs is None else (b"\\u00", *signs))


def test_an_id_in_a_path_moves_the_variables_behind_it():
    path = f"/v1/files/{MINE}/parts/7"
    start, end = 10, 10 + len(MINE)
    variables = {"file": (start, end), "part": (end + 7, end + 8)}
    exchange = new_exchange(path=path, variables=variables)
    ids = opened({"names": {"file": "path.file"}}, exchange)
    assert exchange.path == "/v1/files/file-1/parts/7"
    assert (exchange.variable("file"), exchange.variable("part")) == ("file-1", "7")
    assert ids.holder == ALPHA
    assert [*vendor_ids(ids)] == [(b"file-1", MINE.encode())]


def test_a_path_may_lack_the_prefix():
    rest = sealed("files/abc").removeprefix("files/")
    exchange = new_exchange(path=f"/files/{rest}", variables={"f": (7, 7 + len(rest))})
    opened({"names": {"file": {"at": "path.f", "prefix": "files/"}}}, exchange)
    assert exchange.path == "/files/abc"


def test_ids_in_a_query_keep_everything_else():
    exchange = new_exchange(query=f"a=%20&ids[]={MINE}&ids[]={sealed('file-2')}&b=1")
    opened({"names": {"file": "query.ids"}}, exchange)
    assert exchange.query == "a=%20&ids[]=file-1&ids[]=file-2&b=1"


def test_an_id_in_a_header():
    exchange = new_exchange(environ={"HTTP_X_FILE": MINE})
    opened({"names": {"file": "header.x-file"}}, exchange)
    assert exchange.header("HTTP_X_FILE") == "file-1"


def test_an_id_that_is_not_the_callers_leaves_the_request_as_it_is():
    exchange = new_exchange(path=f"/%20{MINE}", variables={"f": (1, 4 + len(MINE))})
    assert refusal({"names": {"file": "path.f"}}, exchange).status == 404
    assert exchange.path == f"/%20{MINE}"


BEARER = {"names": {"upload": {"at": "query.id", "bearer": True}}}


UPLOAD = sealed("abc", "upload")


def test_whoever_bears_an_id_without_a_token_asks_for_its_owner():
    ids = opened(BEARER, new_exchange(query=f"id={UPLOAD}"), owner=NOBODY)
    assert ids.owner == OWNER


@each(
    ("facts", "owner"),
    [
        (BEARER, OTHER),  # a token of its own stands for nobody else
        ({"names": {"upload": "query.id"}}, NOBODY),
    ],
)
def test_otherwise_an_id_is_its_owners(facts, owner):
    assert refusal(facts, new_exchange(query=f"id={UPLOAD}"), owner=owner).status == 404


def test_a_forged_id_bears_nothing():
    exchange = new_exchange(query=f"id={UPLOAD[:-2]}AA")
    assert refusal(BEARER, exchange, owner=NOBODY).status == 404


def test_a_slash_of_an_id_that_was_coded_stays_coded():
    """Else the vendor would see one segment more, at another path."""
    coded = sealed("files/abc").replace("/", "%2F")
    exchange = new_exchange(path=f"/v1/{coded}", variables={"f": (4, 4 + len(coded))})
    opened({"names": {"file": "path.f"}}, exchange)
    assert exchange.path == "/v1/files%2Fabc"

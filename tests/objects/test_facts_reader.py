"""Every fact of a document about objects is read, and every mistake noted at its place."""

from engine.objects.facts import ListFacts
from engine.objects.facts_reader import read_facts
from tests.support.each import each

FACTS = {
    "names": {"file": ["path.file_id", "body#/input_file_id"]},
    "creates": {"file": "body#/id", "batch": {"at": "body#/url", "after": "batches/"}},
    "lists": {"kind": "file", "items": "body#/files", "cursor": "token", "next": "body#/next"},
    "marks": [{"kind": "file", "form": "map", "at": "body#/metadata"}],
}


def test_all_facts_are_read():
    facts, faults = read_facts(FACTS)
    assert faults == []
    assert [place.text for place in facts.names] == ["path.file_id", "body#/input_file_id"]
    assert [(place.kind, place.after) for place in facts.creates] == [
        ("file", ""),
        ("batch", "batches/"),
    ]
    assert facts.lists == ListFacts("file", items=("files",), cursor="token", next=("next",))
    assert facts.marks[0].at.steps == ("metadata",)
    assert facts.marks[0].shown is None


THREAD = {"at": "body#/thread", "kinds": ["message"]}


@each(("streams", "expected"), [("body#/file", "file"), ("body#", ""), (None, None)])
def test_the_file_that_is_sent_on_as_it_arrives(streams, expected):
    assert read_facts({"streams": streams})[0].streams == expected


@each(
    ("facts", "at"),
    [
        ([], ()),
        ({"name": {}}, ("name",)),
        ({"names": []}, ("names",)),
        ({"names": {"File": "path.id"}}, ("names", "File")),
        ({"names": {"file": ["path.id", 3]}}, ("names", "file", 1)),
        ({"creates": {"file": "path.id"}}, ("creates", "file")),
        ({"streams": "body#/a/b"}, ("streams",)),
        ({"streams": 3}, ("streams",)),
        ({"when": "store"}, ("when",)),
        ({"when": "body#/**/store"}, ("when",)),
        ({"when": {"kinds": ["message"]}}, ("when", "at")),
        ({"when": {"at": "body#/thread"}}, ("when", "kinds")),
        ({"when": {"at": "body#/thread", "kinds": ["M"]}}, ("when", "kinds")),
        ({"when": {**THREAD, "more": 1}}, ("when", "more")),
        ({"copy": "move"}, ("copy",)),
        ({"lists": []}, ("lists",)),
        ({"lists": {"kind": 3}}, ("lists", "kind")),
        ({"lists": {"kind": "file", "max": 0}}, ("lists", "max")),
        ({"lists": {"kind": "file", "max": True}}, ("lists", "max")),
        ({"lists": {"kind": "file", "items": "data"}}, ("lists", "items")),
        ({"lists": {"kind": "file", "items": "body#/*/x"}}, ("lists", "items")),
        ({"lists": {"kind": "file", "forward": 1}}, ("lists", "forward")),
        ({"lists": {"kind": "file", "cursor": "page"}}, ("lists", "cursor")),
        ({"lists": {"kind": "file", "cursor": "token"}}, ("lists",)),
        ({"lists": {"kind": "file", "size": 1}}, ("lists", "size")),
        ({"marks": {}}, ("marks",)),
        ({"marks": ["file"]}, ("marks", 0)),
        ({"marks": [{"kind": "file", "form": "tag"}]}, ("marks", 0, "form")),
        ({"marks": [{"kind": "", "form": "map"}]}, ("marks", 0, "kind")),
        ({"marks": [{"kind": "file", "form": "map", "at": "path.x"}]}, ("marks", 0, "at")),
        ({"marks": [{"kind": "file", "form": "map", "in": "x"}]}, ("marks", 0, "in")),
    ],
)
def test_a_fault_has_its_place(facts, at):
    read, faults = read_facts(facts)
    assert read is None
    assert [fault.at for fault in faults] == [at]


def test_what_an_operation_does_with_stored_responses_is_one_of_a_few_words():
    facts, _ = read_facts({"turns": "create"})
    assert facts is not None
    assert facts.turns == "create"
    _, faults = read_facts({"turns": "resume"})
    assert "create, continue" in faults[0].message

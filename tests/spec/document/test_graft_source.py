"""The place of a value that comes from another file than the one it stands in."""

from engine.source.reader import read
from engine.spec.document.graft_source import GraftSource

TEXT = "actions:\n  - update:\n      title: T\n      x: {y: 1}\n"


def test_a_value_has_its_place_in_the_file_it_comes_from():
    marked = read(TEXT, "fix.yaml")
    source = GraftSource(marked, ("info",), ("actions", 0, "update"))
    assert (source.file, source.text, source.problems) == ("fix.yaml", TEXT, [])
    assert source.place(("info", "title")) == (3, 14)
    assert source.place(("info", "x", "y"), key=True) == (4, 11)

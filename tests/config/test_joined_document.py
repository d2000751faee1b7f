"""Origins: the file and the path of each part of a joined document."""

from engine.config.joined_document import TAGS, Origin, joined_document
from engine.source.reader import read


def document(text, file="a.yaml"):
    return read(text, file, known_tags=TAGS)


def test_an_entry_has_the_origin_of_its_mapping_unless_children_has_another():
    one, other = document("{a: {b: 1, c: 2}}"), document("{x: 3}", "b.yaml")
    origin = Origin(one)
    origin.entry("a").children["c"] = Origin(other, ("x",))
    assert origin.child("a").child("b").path == ("a", "b")
    assert origin.child("a").child("c").document is other


def test_a_joined_document_reads_places_and_references_in_the_file_of_a_value():
    one = document("{a: 1}")
    other = read("\nx: ${VAR}\n", "b.yaml", lambda text: "filled")
    whole = joined_document(one)
    whole.origin.children["b"] = Origin(other, ("x",))
    assert whole.place(("a",)) == (1, 5)
    assert whole.place(("b",), key=True) == (2, 1)
    assert whole.reference(("b",)) == "${VAR}"


def test_a_value_has_the_tag_of_its_place():
    origin = Origin(document("{a: !remove , b: 1}"))
    assert (origin.child("a").tag, origin.child("b").tag) == ("!remove", "")


def test_the_sections_of_a_joined_document_are_copies():
    one = document("{a: [1], b: {c: 2}}")
    whole = joined_document(one)
    whole.value["a"].append(2)
    whole.value["b"]["d"] = 3
    assert one.value == {"a": [1], "b": {"c": 2}}


def test_a_document_without_positions_hides_the_secrets_of_all_files():
    one = read("a: 1\n", "a.yaml", lambda text: text)
    other = read("x: ${VAR}\n", "b.yaml", lambda text: "a-long-secret")
    whole = joined_document(one)
    whole.files.append(other)
    whole.free_positions()
    assert other.text == ""
    assert whole.redact("a-long-secret") == "${VAR}"

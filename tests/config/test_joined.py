"""Origins: the file and the path of each part of a joined document."""

from engine.config.joined import TAGS, Origin, joined
from engine.source.reader import read


def document(text, file="a.yaml"):
    return read(text, file, known_tags=TAGS)


def test_an_entry_stands_below_its_mapping_unless_it_is_noted_elsewhere():
    first, second = document("{a: {b: 1, c: 2}}"), document("{x: 3}", "b.yaml")
    origin = Origin(first)
    origin.entry("a").below["c"] = Origin(second, ("x",))
    assert origin.child("a").child("b").path == ("a", "b")
    assert origin.child("a").child("c").document is second


def test_a_joined_document_reads_places_and_references_in_the_file_of_a_value():
    first = document("{a: 1}")
    second = read("\nx: ${VAR}\n", "b.yaml", lambda text: "filled")
    joined_config = joined(first)
    joined_config.origin.below["b"] = Origin(second, ("x",))
    assert joined_config.place(("a",)) == (1, 5)
    assert joined_config.place(("b",), key=True) == (2, 1)
    assert joined_config.reference(("b",)) == "${VAR}"


def test_a_value_has_the_tag_of_its_place():
    origin = Origin(document("{a: !remove , b: 1}"))
    assert (origin.child("a").tag, origin.child("b").tag) == ("!remove", "")


def test_the_sections_of_a_joined_document_are_copies():
    first = document("{a: [1], b: {c: 2}}")
    joined_config = joined(first)
    joined_config.value["a"].append(2)
    joined_config.value["b"]["d"] = 3
    assert first.value == {"a": [1], "b": {"c": 2}}


def test_a_settled_document_hides_the_secrets_of_all_files():
    first = read("a: 1\n", "a.yaml", lambda text: text)
    second = read("x: ${VAR}\n", "b.yaml", lambda text: "a-long-secret")
    joined_config = joined(first)
    joined_config.files.append(second)
    joined_config.settle()
    assert second.text == ""
    assert joined_config.redact("a-long-secret") == "${VAR}"

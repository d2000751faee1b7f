"""Which mappings of a document repairs look at, and where a repair is noted."""

from engine.source.problem import Findings
from engine.spec.document.repairs import schemas
from tests.support.documents import document, library


def names(value):
    """The paths of the mappings below components/schemas/Root."""
    files = library(document(components={"schemas": {"Root": value}}))
    at = ("components", "schemas", "Root")
    paths = [schema.node.path for schema in schemas(files, Findings())]
    return {"/".join(map(str, path[3:])) for path in paths if path[:3] == at}


def test_schemas_below_keywords_and_lists_are_found():
    schema = {"items": {"type": "string"}, "anyOf": [{}, {"not": {}}]}
    assert names(schema) == {"", "items", "anyOf/0", "anyOf/1", "anyOf/1/not"}


def test_a_mapping_of_names_is_no_schema():
    schema = {"properties": {"properties": {"type": "string"}, "enum": {}}}
    assert names(schema) == {"", "properties/properties", "properties/enum"}
    below = {"$defs": {"content": {"items": {}}}}
    assert names(below) == {"", "$defs/content", "$defs/content/items"}


def test_a_literal_value_is_no_schema():
    assert names({"example": {"items": {}}, "enum": [{}], "default": {}}) == {""}


def test_a_property_has_its_name_and_the_schema_that_it_belongs_to():
    root = {"properties": {"size": {"type": "integer"}}, "required": ["size"]}
    files = library(document(components={"schemas": {"Root": root}}))
    (schema,) = [each for each in schemas(files, Findings()) if each.name == "size"]
    assert (schema.parent, schema.value) == (root, {"type": "integer"})


def test_a_repair_is_a_warning_at_its_keyword():
    findings = Findings()
    files = library(document(components={"schemas": {"Root": {"type": "binary"}}}))
    schema = next(each for each in schemas(files, findings) if each.value == {"type": "binary"})
    schema.warn("type", "MW000", "no such type", "write string")
    (problem,) = findings.problems
    assert (problem.level.value, problem.code, problem.hint) == ("warning", "MW000", "write string")

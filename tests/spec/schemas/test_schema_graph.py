"""The graph of schemas."""

from __future__ import annotations

from engine.spec.schemas.compiled_schemas import SchemaParts
from engine.spec.schemas.json_schema_files import Purpose, json_schema_files
from engine.spec.schemas.schema_cost import SchemaCost
from engine.spec.schemas.schema_graph import SchemaGraph
from tests.support.documents import library
from tests.support.schema_levels import URI, levels, ref


def test_parts_that_many_schemas_refer_to_are_read_once() -> None:
    graph = SchemaGraph()
    root = {"properties": {"next": ref("Root")}, "anyOf": [ref("S0"), ref("S3")]}
    schemas = {**levels(6), "Back": {"items": ref("Root"), "allOf": [ref("S2"), ref("Back")]}}
    files = library({"openapi": "3.1.0", "schemas": {"Root": root, **schemas}})
    of_files = SchemaParts(json_schema_files(files, Purpose.REQUEST))
    for name in ["Back", "S5", "Root", "S0", "Back", "S3"]:
        text, parts = of_files.of(URI, ("schemas", name))
        assert graph.most(URI, text, parts) == SchemaCost(URI, text, parts).most

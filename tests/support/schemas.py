"""Schemas with references, and a resolver."""

COMPONENTS = {
    "Count": {"type": "integer"},
    "Either": {"anyOf": [{"type": "integer"}, {"$ref": "Either"}]},
    "Loop": {"$ref": "Loop"},
    "Tree": {
        "type": "object",
        "properties": {
            "size": {"$ref": "Count"},
            "children": {"type": "array", "items": {"$ref": "Tree"}},
        },
    },
    "Wide": {"allOf": [{"$ref": "Wide"}, {"properties": {"w": {"$ref": "Wide"}}}]},
}


def resolve(schema):
    while isinstance(schema, dict) and "$ref" in schema:
        target = COMPONENTS[schema["$ref"]]
        if target is schema:
            return schema
        schema = target
    return schema


def repeated(word):
    """Thirty unions within each other, each of ten times the same: 10**30 branches."""
    node = {"type": "object", "properties": {"size": {"type": "integer"}}}
    for _ in range(30):
        node = {word: [node] * 10}
    return node

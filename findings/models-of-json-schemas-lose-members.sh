#!/usr/bin/env bash
# json-schema-to-pydantic 0.5.0, jsonschema-pydantic 0.6 and jambo 0.2.0.post1 (Python): the Pydantic model made of a JSON
# Schema drops members of valid values, without an error.
#
# With these, frameworks of agents make models of a tool's schema, and send what is left of the arguments to the tool.
# 1. `additionalProperties` of integers beside a property `a`: of `{"a": "x", "b": 1}` all keep `a` alone, and take a `b`
#    that is no integer. The keyword is for all names that are not in `properties` (JSON Schema 2020-12, Core, 10.3.2.3),
#    and without it they are allowed.
# 2. A member that is a map, `{"type": "object", "additionalProperties": {...}}`: jambo makes {} of `{"k": 1}`.
# 3. `allOf` of two objects (10.2.1.1), without `properties` beside it: jsonschema-pydantic and jambo make {} of
#    `{"a": "x", "b": 1}`.
# 4. A property named `model_config`, as tools for models have: json-schema-to-pydantic and jambo drop its value.
# jsonschema 4.26.0 calls all these values valid. datamodel-code-generator 0.89.0 keeps each of them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="json-schema-to-pydantic==0.5.0 jsonschema-pydantic==0.6 jambo==0.2.0.post1 pydantic==2.14.4"
"$folder/venv/bin/pip" install --quiet $packages jsonschema==4.26.0 datamodel-code-generator==0.89.0
cd "$folder"
venv/bin/python -W ignore - <<'PYTHON'
import importlib
import json
import sys
from copy import deepcopy
from pathlib import Path

import jsonschema
from datamodel_code_generator import DataModelType, InputFileType, generate
from jambo import SchemaConverter
from json_schema_to_pydantic import create_model
from jsonschema_pydantic import jsonschema_to_pydantic

TEXT, INTEGER = {"type": "string"}, {"type": "integer"}
CASES = {
    "none of these": ({"properties": {"a": TEXT, "b": INTEGER}}, {"a": "x", "b": 1}),
    "additionalProperties": ({"properties": {"a": TEXT}, "additionalProperties": INTEGER}, {"a": "x", "b": 1}),
    "map": ({"properties": {"m": {"type": "object", "additionalProperties": INTEGER}}}, {"m": {"k": 1}}),
    "allOf": ({"allOf": [{"properties": {"a": TEXT}}, {"properties": {"b": INTEGER}}]}, {"a": "x", "b": 1}),
    "name": ({"properties": {"model_config": TEXT, "b": INTEGER}}, {"model_config": "x", "b": 1}),
}
MAKERS = {
    "json-schema-to-pydantic": create_model,
    "jsonschema-pydantic": jsonschema_to_pydantic,
    "jambo": SchemaConverter.build,
}


def generated(schema: dict) -> type:
    file = Path(f"models_{len(sys.modules)}.py")
    options = {"output_model_type": DataModelType.PydanticV2BaseModel, "input_file_type": InputFileType.JsonSchema}
    generate(json.dumps(schema), output=file, **options)
    sys.path.insert(0, ".")
    importlib.invalidate_caches()
    return importlib.import_module(file.stem).Arguments


MAKERS["datamodel-code-generator"] = generated
LOST = {
    ("json-schema-to-pydantic", "additionalProperties"): {"a": "x"},
    ("jsonschema-pydantic", "additionalProperties"): {"a": "x"},
    ("jambo", "additionalProperties"): {"a": "x"},
    ("jambo", "map"): {"m": {}},
    ("jsonschema-pydantic", "allOf"): {},
    ("jambo", "allOf"): {},
    ("json-schema-to-pydantic", "name"): {"b": 1},
    ("jambo", "name"): {"b": 1},
}
ERRORS = {("jsonschema-pydantic", "name"): "TypeError"}
for maker, make in MAKERS.items():
    for case, (parts, value) in CASES.items():
        schema = {"title": "Arguments", "type": "object", **deepcopy(parts)}
        jsonschema.validate(value, schema)
        try:
            outcome = make(schema).model_validate(value).model_dump(mode="json", by_alias=True, exclude_unset=True)
        except Exception as error:
            outcome = type(error).__name__
        print(maker, case, outcome)
        assert outcome == ERRORS.get((maker, case), LOST.get((maker, case), value)), (maker, case, outcome)
PYTHON

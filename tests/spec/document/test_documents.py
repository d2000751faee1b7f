"""The documents that travel with the program: what they take, what they refuse and where.

The cases are files under tests/cases/documents: `captured` has the bodies that the vendors' SDKs
really sent, `broken` has bodies with the place and the code of their refusal, `passes` has odd
bodies that are right.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from engine.mock import examples
from engine.source.problem import Findings
from engine.spec.document.checks.standard_breaches import breaches
from engine.spec.document.node import Node
from engine.spec.document.path_items import METHODS
from engine.spec.document.path_templates import variables
from engine.spec.operation import Operation
from engine.spec.schemas.compiled_schemas import Schemas
from engine.values.errors import GatewayError
from tests.support import paths
from tests.support.documents import ask, form_data, raw_document, shipped
from tests.support.each import each
from tests.support.thorough import some

CASES = paths.CASES / "documents"
NAMES = ("openai", "anthropic", "gemini", "rerank")
OBJECTS = (
    *("openai-files", "openai-responses", "openai-media", "openai-tuning", "openai-agents"),
    *("anthropic-files", "anthropic-agents", "gemini-files", "gemini-agents"),
)
"""Those of objects.yaml: what vendors keep for callers."""
READ = {name: shipped(name) for name in NAMES}
OPERATIONS = {
    specification.id: specification
    for spec, _ in READ.values()
    for specification in spec.operations.values()
}

# The table.
TABLE = """
openai.createChatCompletion POST /v1/chat/completions
openai.createCompletion POST /v1/completions
openai.createEmbedding POST /v1/embeddings
openai.createImage POST /v1/images/generations
openai.createImageEdit POST /v1/images/edits
openai.createTranscription POST /v1/audio/transcriptions
openai.createTranslation POST /v1/audio/translations
openai.createImageVariation POST /v1/images/variations
openai.compactResponse POST /v1/responses/compact
openai.createDecision POST /v1/decisions
openai.createSpeech POST /v1/audio/speech
openai.createResponse POST /v1/responses
openai.connectResponses GET /v1/responses
openai.countResponseTokens POST /v1/responses/input_tokens
openai.createModeration POST /v1/moderations
openai.connectRealtime GET /v1/realtime
openai.connectRealtimeTranslation GET /v1/realtime/translations
openai.connectLiveSession GET /v1/live/sessions
openai.createRealtimeClientSecret POST /v1/realtime/client_secrets
rerank.rerank POST /v1/rerank
openai.listModels GET /v1/models
openai.retrieveModel GET /v1/models/{model}
anthropic.createMessage POST /v1/messages
anthropic.countTokens POST /v1/messages/count_tokens
gemini.generateContent POST /v1beta/models/{model}:generateContent
gemini.streamGenerateContent POST /v1beta/models/{model}:streamGenerateContent
gemini.countTokens POST /v1beta/models/{model}:countTokens
gemini.embedContent POST /v1beta/models/{model}:embedContent
gemini.batchEmbedContents POST /v1beta/models/{model}:batchEmbedContents
gemini.listModels GET /v1beta/models
gemini.getModel GET /v1beta/models/{model}
gemini.connectLive GET LIVE/BidiGenerateContent
gemini.connectLiveConstrained GET LIVE/BidiGenerateContentConstrained
gemini.createAuthToken POST /v1beta/auth_tokens
gemini.connectLiveMusic GET LIVE/BidiGenerateMusic
"""

# What stands in an example for what the mock fills in.
FACTS = {
    "text": "Hello there",
    "model": "some-model",
    "now": 1_700_000_000,
    "id": "0123456789abcdef01234567",
    "input_tokens": 3,
    "output_tokens": 2,
    "total_tokens": 5,
    "items": ["Paris", "Lima"],
}


def cases(folder: str) -> list[Any]:
    """Every case of every file in a folder, with a name that finds it again."""
    return [
        pytest.param(file.stem, case, id=f"{file.stem}-{number}")
        for file in sorted((CASES / folder).glob("*.json"))
        for number, case in enumerate(json.loads(file.read_text()))
    ]


def request(case: dict[str, Any]) -> tuple[Any, str]:
    """The body of a case, and its media type."""
    if "fields" in case:
        return form_data(case["fields"])
    return case["body"], "application/json"


def node_of(operation: Operation) -> Node:
    return READ[operation.spec][0].node(operation)


def request_examples() -> list[Any]:
    """Every documented example of a JSON request body."""
    operation_node = []
    for operation in OPERATIONS.values():
        media = node_of(operation).get("requestBody").get("content").get("application/json")
        for name, example in media.get("examples").items():
            value = example.get("value").value
            operation_node.append(pytest.param(operation.id, value, id=f"{operation.id}-{name}"))
    return operation_node


def answer_examples() -> list[Any]:
    """Every documented example of an answer that is a document or a stream of them."""
    operation_node = []
    for operation in OPERATIONS.values():
        for status, response in node_of(operation).get("responses").items():
            for media_type, media in response.get("content").items():
                for name, example in media.get("examples").items():
                    label = f"{operation.id}-{status}-{media_type}-{name}"
                    value = example.get("value").value
                    operation_node.append(
                        pytest.param(operation, media, media_type, value, id=label)
                    )
    return operation_node


def schemas_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every mapping of a document with its path, those in examples left out."""
    if isinstance(value, dict):
        yield path, value
        for key, below in value.items():
            if key not in ("examples", "example", "const"):
                yield from schemas_of(below, (*path, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from schemas_of(below, (*path, index))


LIVE = "//ws/google.ai.generativelanguage.{version}.GenerativeService."
SOCKETS = {
    *("openai.connectRealtime", "openai.connectRealtimeTranslation", "openai.connectResponses"),
    *("openai.connectLiveSession", "gemini.connectLive", "gemini.connectLiveMusic"),
    "gemini.connectLiveConstrained",
}


@each("name", NAMES)
def test_the_document_loads_without_a_problem(name: str) -> None:
    assert READ[name][1] == []


@each("name", NAMES)
def test_the_document_follows_the_standard(name: str) -> None:
    findings = Findings()
    breaches(READ[name][0].library, findings)
    assert findings.problems == []
    if name in some(NAMES[::-1], 2):
        assert list(OpenAPIV31SpecValidator(raw_document(name)).iter_errors()) == []


def test_the_operations_are_those_of_the_table() -> None:
    operation_node = [
        f"{op.id} {op.method} {op.mounts[0]}{op.path}".replace(LIVE, "LIVE/")
        for op in OPERATIONS.values()
    ]
    assert sorted(operation_node) == sorted(TABLE.split("\n")[1:-1])


@each("name", OBJECTS)
def test_a_document_of_objects_follows_the_standard(name: str) -> None:
    specification, problems = shipped(name)
    # Uploads of Gemini begin and go on at one path, and a file in an environment has a path.
    assert {p.code for p in problems} <= ({"MW228", "MW230"} if "gemini" in name else set())
    findings = Findings()
    breaches(specification.library, findings)
    assert findings.problems == []
    if name in some(OBJECTS, 2):
        assert list(OpenAPIV31SpecValidator(raw_document(name)).iter_errors()) == []


@each("name", OBJECTS)
def test_a_document_of_objects_names_the_ids_of_its_paths(name: str) -> None:
    """Every variable of a path that is an id is sealed, so that no one reads another one's."""
    unsealed = {"version", "model", "path", "fine_tuned_model_checkpoint", "document", "media"}
    for template, item in raw_document(name)["paths"].items():
        for method in set(item) & set(METHODS):
            facts = str(item[method].get("x-modelway-objects", {}).get("names", {}))
            for variable in set(variables(template.partition("#")[0])) - unsealed:
                is_child = template.startswith("/fileSearchStores/{store}/")
                if template.endswith("#piece"):  # the address of an upload is a secret of its own
                    continue
                assert f"path.{variable}" in facts or is_child, (template, method, variable)


@each("name", (*NAMES, *OBJECTS))
def test_every_operation_has_a_summary(name: str) -> None:
    for template, item in raw_document(name)["paths"].items():
        for method in set(item) & set(METHODS):
            operation = item[method]
            assert operation["operationId"], template
            assert operation["summary"], template
            assert operation["tags"], template
            assert "default" in operation["responses"], template


def test_realtime_and_responses_have_a_websocket_and_no_other_has() -> None:
    operation_node = [operation.id for operation in OPERATIONS.values() if operation.websocket]
    assert set(operation_node) == SOCKETS


@each(
    ("spec", "carriers"),
    [
        ("openai", {("bearer", "authorization")}),
        ("anthropic", {("header", "x-api-key"), ("bearer", "authorization")}),
        (
            "gemini",
            {("header", "x-goog-api-key"), ("query", "key"), ("bearer", "authorization")},
        ),
    ],
)
def test_the_token_is_where_the_sdks_put_it(spec: str, carriers: set[Any]) -> None:
    for operation in READ[spec][0].operations.values():
        assert set(operation.carriers) >= carriers, operation.id


@each("name", NAMES)
def test_objects_and_lists_of_names_are_open(name: str) -> None:
    for path, schema in schemas_of(raw_document(name)):
        assert schema.get("additionalProperties") is not False, path
        for word in ("unevaluatedProperties", "discriminator", "oneOf"):
            assert word not in schema or path[-1] == "properties", path
        # A list of names may choose a branch; it never limits a value.
        if "enum" in schema and path[-1] != "properties":
            assert "if" in path, path


@each("name", NAMES)
def test_no_format_gates_a_value(name: str) -> None:
    for path, schema in schemas_of(raw_document(name)):
        if path and path[-1] != "properties":
            assert not isinstance(schema.get("format"), str), path


@each(("file", "case"), cases("captured"))
def test_requests_of_sdks_pass(file: str, case: dict[str, str]) -> None:
    ask(OPERATIONS[case["operation"]], case["text"].encode(), case["content_type"])


@each(("name", "case"), cases("passes"))
def test_unusual_valid_requests_pass(name: str, case: dict[str, Any]) -> None:
    ask(OPERATIONS[name], *request(case))


@each(("name", "case"), cases("broken"))
def test_invalid_requests_are_refused_with_the_place(name: str, case: dict[str, Any]) -> None:
    with pytest.raises(GatewayError) as excinfo:
        ask(OPERATIONS[name], *request(case))
    error = excinfo.value
    assert (error.status, error.param, error.code) == (400, case["param"], case["code"])


def test_every_operation_with_a_body_has_broken_cases() -> None:
    bodied = {operation.id for operation in OPERATIONS.values() if operation.bodies.rules}
    assert {file.stem for file in (CASES / "broken").glob("*.json")} == bodied
    assert len(cases("broken")) >= 120


@each(("name", "body"), request_examples())
def test_every_documented_request_passes(name: str, body: Any) -> None:
    ask(OPERATIONS[name], body)


@each(("name", "body"), request_examples())
def test_explicit_nulls_pass(name: str, body: Any) -> None:
    operation = OPERATIONS[name]
    media = node_of(operation).get("requestBody").get("content").get("application/json")
    schema = media.get("schema").value
    optional = set(schema["properties"]) - set(schema.get("required", ()))
    absent = [field for field in optional if field not in body]
    ask(operation, {**body, **dict.fromkeys(absent)})
    for field in absent:
        ask(operation, {**body, field: None})


# Mappings whose values have a type of their own, so that an extra must have it too.
MAPS = frozenset({"metadata", "labels", "logit_bias", "variables", "headers"})


def with_extras(value: Any, key: str = "") -> Any:
    """The value with a field that nobody knows in every object."""
    if isinstance(value, list):
        return [with_extras(item) for item in value]
    if not isinstance(value, dict):
        return value
    extra = {} if key in MAPS else {"x_unknown": {"deep": [1, None]}}
    return {name: with_extras(below, name) for name, below in value.items()} | extra


@each(("name", "body"), request_examples())
def test_unknown_fields_pass(name: str, body: Any) -> None:
    ask(OPERATIONS[name], with_extras(body))


@each(("operation", "media", "media_type", "value"), answer_examples())
def test_every_documented_answer_is_what_its_schema_says(
    operation: Operation, media: Node, media_type: str, value: Any
) -> None:
    schemas = Schemas(READ[operation.spec][0].library)
    schema = media.get("schema")
    if media_type != "text/event-stream":
        filled = examples.fill(value, FACTS)
        assert schemas.validator(schema).is_valid(filled)
        return
    validator = schemas.validator(schema.get("contentSchema"))
    events = list(examples.events(value, FACTS, usage=True))
    assert events
    for event in events:
        lines = [line for line in event.decode().split("\n") if line.startswith("data: ")]
        assert len(lines) == 1, event
        if lines[0] != "data: [DONE]":
            assert validator.is_valid(json.loads(lines[0].removeprefix("data: "))), event


def test_every_operation_has_an_example_answer() -> None:
    silent = {
        operation.id
        for operation in OPERATIONS.values()
        if all(example.value is None for example in examples.examples(node_of(operation)))
    }
    assert silent == SOCKETS


@each(
    ("name", "unknown"),
    [
        ("createChatCompletion", []),
        ("createCompletion", []),
        ("createResponse", [("stream_options", "include_usage")]),
    ],
)
def test_the_usage_option_needs_chunks_with_choices(name: str, unknown: list[Any]) -> None:
    """As the vendor's own document has it: a response's last event always tells its usage."""
    specification, operation = READ["openai"][0], OPERATIONS[f"openai.{name}"]
    operation_names = specification.recompile(operation, lenient=False, with_names=True)
    names = operation_names.bodies.rules["application/json"].names
    assert names is not None
    options = {"include_usage": True, "include_obfuscation": False}
    assert list(names.paths({"model": "m", "stream_options": options})) == unknown

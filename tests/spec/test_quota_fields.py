"""What requests can say that matters for counting, read from the documents."""

from engine import dialects
from engine.spec.quota_fields import takes_of, takes_usage_option
from engine.values.usage import Takes
from tests.support.documents import document, library, shipped
from tests.support.each import each

OPENAI, ANTHROPIC, GEMINI = (dialects.get(name) for name in ("openai", "anthropic", "gemini"))
CHAT = Takes(usage_option=True, output=OPENAI.request_fields.output)
TAKES = {
    "openai": {
        "createChatCompletion": CHAT,
        "createCompletion": CHAT,
        "createResponse": Takes(output=OPENAI.request_fields.output),
        "createImage": Takes(images="n"),
        "createImageEdit": Takes(images="n"),
        "createSpeech": Takes(speech="input"),
        "createTranscription": Takes(audio="file"),
        "createTranslation": Takes(audio="file"),
    },
    "anthropic": {"createMessage": Takes(output=ANTHROPIC.request_fields.output)},
    "gemini": dict.fromkeys(
        ("generateContent", "streamGenerateContent"), Takes(output=GEMINI.request_fields.output)
    ),
}


@each("name", TAKES)
def test_the_shipped_documents(name):
    specification, _ = shipped(name)
    dialect, operations = dialects.get(name), specification.operations.values()
    takes_by_name = {o.name: takes_of(specification.node(o), dialect) for o in operations}
    expected = {
        key: value for key, value in takes_by_name.items() if value != Takes() and not value.free
    }
    assert expected == TAKES[name]


FREE = {
    *("countResponseTokens", "createModeration", "createRealtimeClientSecret"),
    *("listModels", "retrieveModel"),
}


@each(
    ("name", "free"),
    [
        ("openai", FREE),
        ("anthropic", {"countTokens"}),
        ("gemini", {"countTokens", "listModels", "getModel", "createAuthToken"}),
    ],
)
def test_operations_that_report_no_usage_are_free(name, free):
    specification, _ = shipped(name)
    operations = specification.operations.values()
    dialect = dialects.get(name)
    assert {o.name for o in operations if takes_of(specification.node(o), dialect).free} == free


OPTIONS = {"type": "object", "properties": {"include_usage": {"type": "boolean"}}}


def has_option(node):
    return takes_usage_option(node, OPENAI.usage_option)


def schema(value, **components):
    files = library(document(components={"schemas": {"Root": value, **components}}))
    return files.document.get("components").get("schemas").get("Root")


@each(
    ("value", "expected"),
    [
        ({"properties": {"stream_options": OPTIONS}}, True),
        ({"properties": {"stream_options": {"$ref": "#/components/schemas/Options"}}}, True),
        ({"properties": {"stream_options": {"anyOf": [OPTIONS, {"type": "null"}]}}}, True),
        ({"allOf": [{}, {"properties": {"stream_options": OPTIONS}}]}, True),
        ({"allOf": [{"$ref": "#/components/schemas/Base"}]}, True),
        ({"properties": {"stream_options": {"properties": {"include_obfuscation": {}}}}}, False),
        ({"properties": {"options": OPTIONS}}, False),
        ({"properties": {"deep": {"properties": {"stream_options": OPTIONS}}}}, False),
        ({}, False),
        (True, False),
        ({"properties": {"stream_options": True}}, False),
    ],
)
def test_the_option_is_found_in_a_schema(value, expected):
    base = {"properties": {"stream_options": {"$ref": "#/components/schemas/Options"}}}
    assert has_option(schema(value, Options=OPTIONS, Base=base)) is expected


def test_a_schema_that_is_only_itself_terminates():
    loop = {"allOf": [{"$ref": "#/components/schemas/Root"}]}
    assert has_option(schema(loop)) is False


def operation(stream):
    body = {
        "content": {"application/json": {"schema": {"properties": {"stream_options": OPTIONS}}}}
    }
    answer = {"content": {"text/event-stream": stream, "application/json": {}}}
    paths = {"/x": {"post": {"requestBody": body, "responses": {"200": answer}}}}
    return library(document(paths=paths)).document.get("paths").get("/x").get("post")


@each(
    ("stream", "expected"),
    [
        ({}, True),
        ({"schema": {"type": "string"}}, True),
        ({"schema": {"properties": {"choices": {}}}}, True),
        ({"schema": {"contentSchema": {"properties": {"choices": {}}}}}, True),
        ({"schema": {"contentSchema": {"properties": {"type": {}}}}}, False),
    ],
)
def test_the_option_is_for_streams_of_choices(stream, expected):
    assert takes_of(operation(stream), OPENAI).usage_option is expected


def test_an_operation_without_a_body():
    files = library(document(paths={"/x": {"get": {"responses": {}}}}))
    assert takes_of(files.document.get("paths").get("/x").get("get"), OPENAI) == Takes()


@each("word", ["allOf", "anyOf", "oneOf"])
def test_schemas_that_repeat_each_other_are_visited_once(word):
    parts = {"P0": {"properties": {"stream_options": OPTIONS}}}
    for number in range(1, 60):
        parts[f"P{number}"] = {word: [{"$ref": f"#/components/schemas/P{number - 1}"}] * 10}
    assert has_option(schema({"$ref": "#/components/schemas/P59"}, **parts).resolved())

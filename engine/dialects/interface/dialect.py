"""The Dialect: everything that one API does in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from engine.dialects.interface.chat_format import ChatFormat
from engine.dialects.interface.client_secrets import ClientSecretFormat
from engine.dialects.interface.error_forms import reports_error
from engine.dialects.interface.files import BatchFormat, FileFormat
from engine.dialects.interface.model_list import ModelCard, ModelList
from engine.dialects.interface.rate_limits import RateLimitHeaders
from engine.dialects.interface.streams import (
    DEFAULT_RULES,
    ERROR_PREFIXES,
    Framing,
    StreamError,
    StreamRules,
    wanted_by_member,
)
from engine.dialects.interface.usage import Meter, RequestFields, UsageOption
from engine.values.errors import GatewayError
from engine.values.trees import Json
from engine.values.usage import Usage

Document = Json


def _never(environ: Mapping[str, object], query: str) -> bool:
    return False


def _no_events(answer: object) -> bytes:
    return b""


def _no_end(documents: Sequence[object]) -> bool | None:
    return None


def _no_choices(document: object) -> Iterable[tuple[int, bool]]:
    return ()


_MAY_BE_EMPTY = ("content", "output")
"""Members of an answer that may say nothing."""
_LATER = frozenset({"request_id"})
"""The members of the answer to a chat that is to be asked for later, as xAI's `deferred` is."""


def _has_empty_vector(document: Json) -> bool:
    """Whether an answer of embeddings has a vector without numbers, as servers send of a model that
    cannot embed."""
    items = [document.get("embedding")]
    for name in ("data", "embeddings"):
        more = document.get(name)
        items += more if isinstance(more, list) else ()
    vectors = (
        each.get("embedding", each.get("values")) for each in items if isinstance(each, dict)
    )
    return any(vector in ([], "") for vector in vectors)


_JSON_TASKS = frozenset({"embedding", "image", "moderation", "rerank"})
"""The tasks whose answers are JSON alone, or a stream."""


class Dialect(Struct, frozen=True, kw_only=True):
    """The parts in which APIs differ. Every function is pure.

    Requests: `claims` recognises by WSGI environ and query a request of this dialect where several
    dialects could answer. `request_fields` are the members from which usage is estimated;
    `prompt_members` hold the prompt, in this order; `stable_text` leaves out of a text of it what
    clients change with each request. `json_name` gives the name of a member that
    requests may spell in another way too, None where each member has one spelling.

    Errors: `error` makes the error object for a request id, `is_error` recognises one,
    `error_event` wraps one for a stream whose status is already sent, `error_events` by path suffix
    for streams that end otherwise. `stream_error` reads the JSON
    of an error event, None for an error of an unknown kind; `is_error_event` recognises one, and a
    JSON answer that begins with one of `error_prefixes` is held until it can. `error_types` are the
    types of events that report an error in another form than `is_error` knows.

    Streams: `wanted_framing` is how a request wants its answer, by its path, its query and its
    parsed body; `array_streams`: it may want a stream as a JSON array; `amazon_streams`: the SDKs
    read Amazon's binary streams, which are relayed unchanged. `stream` are the rules of the SDKs;
    `events_of` writes the events of the JSON of a whole answer, where SDKs cannot read it in place
    of a stream, `b""` of any other JSON; `has_content` is false for events that only begin a
    stream; `ends` says of the JSON of a stream's last events whether they end it, None for a stream
    whose end is not known; `choices` are the answers that one event, or a whole answer, has part
    of, by their indexes, and whether it ends each; `heartbeat` is an event that SDKs ignore, `b""`
    if there is none.

    Models: `models` (with the query's parameters) and `model` render the list of models. A name in
    a body may have the `model_prefix`.

    Headers: `request_headers` are forwarded to an upstream, in addition to those of every dialect.
    `response_headers` (wildcards) pass to callers, in addition to those that describe the body;
    `hidden_headers` never do, even if the document declares them; `exposed_headers` are readable by
    browsers' scripts (CORS). `rate_limits` is how responses report rate limits, None for a dialect
    that does not. `request_id_headers` carry the request id. The answers of a `transparent` dialect
    pass unchanged for every status; see `engine.relay.response_headers`.

    Usage: `meter` reads the usage of a request, None if answers do not report it. `usage_option`
    is how a request asks for usage in its stream.

    WebSockets: `subprotocols` (wildcards) pass to an upstream; `socket_error` makes the message
    that reports an error, `socket_usage` reads usage from a message, and `socket_total` that of the
    whole session so far; `mock_conversation` names the module of `engine.mock.conversations` that
    plays the upstream, "" for an echo, and `mock_live` the one of sessions with a first message.

    Client secrets: `client_secrets` is how the API issues them, None for one that does not.

    Batches: `batches` is how the API writes them, None for one without. Files: `files` is how it
    describes them and takes them in, None for one without.

    Telemetry: `provider` is `gen_ai.provider.name` ("": the name of the upstream), and
    `operation_names` are `gen_ai.operation.name` by operationId.

    Answers: `answer_members` gives by path suffix the members of which an answer in one piece has
    one; lists of choices, candidates and vectors are not empty.

    Tasks: `tasks` gives by path suffix the task that a model must support: `chat`, `embedding`, ...

    Console: `chat_formats` are offered on the home page and in the playground.
    """

    name: str
    error: Callable[[GatewayError, str], Document]
    is_error: Callable[[Any], bool]
    error_event: Callable[[bytes], bytes]
    stream_error: Callable[[Any], StreamError | None]
    has_content: Callable[[Any], bool]
    models: Callable[[ModelList, Mapping[str, str]], Document]
    model: Callable[[ModelCard], Document]
    model_prefix: str = ""
    claims: Callable[[Mapping[str, Any], str], bool] = _never
    request_fields: RequestFields = field(default_factory=RequestFields)
    prompt_members: tuple[str, ...] = ("system", "instructions", "messages", "input", "prompt")
    stable_text: Callable[[str], str] = str
    json_name: Callable[[str], str] | None = None
    is_error_event: Callable[[Any], bool] = reports_error
    error_types: frozenset[str] = frozenset()
    error_events: Mapping[str, Callable[[bytes, str], bytes]] = field(default_factory=dict)
    error_prefixes: tuple[bytes, ...] = ERROR_PREFIXES
    wanted_framing: Callable[[str, str, Any], Framing] = wanted_by_member
    stream: StreamRules = DEFAULT_RULES
    events_of: Callable[[Any], bytes] = _no_events
    ends: Callable[[Sequence[Any]], bool | None] = _no_end
    choices: Callable[[Any], Iterable[tuple[int, bool]]] = _no_choices
    heartbeat: bytes = b""
    amazon_streams: bool = False
    array_streams: bool = False
    request_headers: tuple[str, ...] = ()
    response_headers: tuple[str, ...] = ()
    hidden_headers: frozenset[str] = frozenset()
    exposed_headers: tuple[str, ...] = ()
    rate_limits: RateLimitHeaders | None = None
    request_id_headers: tuple[str, ...] = ("x-request-id",)
    transparent: bool = False
    meter: Meter | None = None
    usage_option: UsageOption | None = None
    subprotocols: tuple[str, ...] = ("*",)
    socket_error: Callable[[GatewayError, str], bytes] | None = None
    socket_usage: Callable[[bytes | bytearray], Usage | None] | None = None
    socket_total: Callable[[bytes | bytearray], Usage | None] | None = None
    mock_conversation: str = ""
    mock_live: str = ""
    client_secrets: ClientSecretFormat | None = None
    batches: BatchFormat | None = None
    files: FileFormat | None = None
    provider: str = ""
    operation_names: Mapping[str, str] = field(default_factory=dict)
    chat_formats: tuple[ChatFormat, ...] = ()
    answer_members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tasks: Mapping[str, str] = field(default_factory=dict)

    @property
    def claims_requests(self) -> bool:
        """Whether a request tells by its head that it is of this dialect."""
        return self.claims is not _never

    def differs_by_request(self, other: Dialect) -> bool:
        """Whether a request to a path of both tells which of the two dialects it has."""
        return self.name != other.name and (self.claims_requests or other.claims_requests)

    def has_error_form(self, document: object) -> bool:
        """Whether the JSON of an error event has a form that the SDKs of the dialect expect."""
        return self.is_error(document) or (
            isinstance(document, dict) and document.get("type") in self.error_types
        )

    def lacks_answer(self, document: object, path: str) -> bool:
        """Whether the JSON of a response to a POST on a path is not the answer of its operation."""
        members = self.members_of_answer(path)
        if not isinstance(document, dict):
            return bool(members)
        if document.keys() == _LATER:
            return False
        if members and _has_empty_vector(document):
            return True
        values = ((name, document.get(name)) for name in members)
        return bool(members) and all(
            value is None or (value == [] and name not in _MAY_BE_EMPTY) for name, value in values
        )

    def members_of_answer(self, path: str) -> tuple[str, ...]:
        """The members of which the answer to a POST on a path has one, none if any may do: also
        where answers come later (Perplexity, Z.ai)."""
        if "/async/" in path:
            return ()
        return next((m for end, m in self.answer_members.items() if path.endswith(end)), ())

    def last_error(self, path: str, body: bytes, model: str) -> bytes:
        """The event for an error object with which the stream of a POST on a path ends."""
        for end, write in self.error_events.items():
            if path.endswith(end):
                return write(body, model)
        return self.error_event(body)

    def has_chat(self, path: str) -> bool:
        """Whether a path is that of a chat whose answer may come in one piece."""
        return any(path.endswith(each.path_suffix) for each in self.chat_formats)

    def task(self, path: str) -> str:
        """The task that a model must support for the operation of this path; "" for any model."""
        suffixes = [suffix for suffix in self.tasks if path.endswith(suffix)]
        return self.tasks[max(suffixes, key=len)] if suffixes else ""

    def answers_json(self, path: str, body: object) -> bool:
        """Whether an answer in one piece is JSON, whatever its Content-Type says: a transcript is
        in the formats of `response_format` that are JSON."""
        task = self.task(path)
        if task != "transcription":
            return task in _JSON_TASKS
        wanted = body.get("response_format") if isinstance(body, dict) else None
        return not wanted or (isinstance(wanted, str) and wanted.endswith("json"))

    def gen_ai_operation(self, operation: str) -> str:
        """`gen_ai.operation.name` of `spec.operationId`: the conventions' name, or the operationId
        where they have none: `openai.createImage` -> `createImage`.

        https://github.com/open-telemetry/semantic-conventions-genai
        """
        name = operation.partition(".")[2] or operation
        return self.operation_names.get(name, name)

    def gen_ai_provider(self, upstream: str) -> str:
        """`gen_ai.provider.name` of an upstream that speaks this dialect."""
        return self.provider or upstream

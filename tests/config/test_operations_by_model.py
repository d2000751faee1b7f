"""The operations of each model."""

from types import SimpleNamespace

import pytest

from engine.config.model_operation import ModelOperation
from engine.config.models import Model, TargetConfig
from engine.config.operations_by_model import ModelOperations

CHAT, EMBED, MESSAGES = (
    ModelOperation("openai.chat", "openai"),
    ModelOperation("openai.embed", "openai"),
    ModelOperation("anthropic.messages", "anthropic"),
)
UPSTREAMS = {
    name: SimpleNamespace(dialect="" if name == "any" else name, missing_paths=())
    for name in ("openai", "anthropic", "any")
}
UPSTREAMS["chat"] = SimpleNamespace(dialect="openai", missing_paths=("/responses",))
UPSTREAMS["cloud"] = SimpleNamespace(dialect="anthropic", missing_paths=("/messages/count",))
UPSTREAMS["bare"] = SimpleNamespace(dialect="openai", missing_paths=("/chat", "/responses", ""))


def table(**models):
    """`name=([upstreams], [fallbacks], [operations])`."""
    entries = {}
    for name, (to, fallback, operations) in models.items():
        targets = tuple(TargetConfig(upstream_name, "", 1.0) for upstream_name in to)
        entries[name] = Model(name, targets, tuple(fallback), name, "me", 0, tuple(operations))
    return ModelOperations(entries, UPSTREAMS, (CHAT, EMBED, MESSAGES))


@pytest.mark.parametrize(
    ("entry", "has"),
    [
        ((["openai"], [], []), [CHAT, EMBED]),
        ((["anthropic"], [], []), [MESSAGES]),
        ((["openai", "anthropic"], [], []), [CHAT, EMBED, MESSAGES]),
        ((["any"], [], []), [CHAT, EMBED, MESSAGES]),
        ((["any"], [], ["openai.chat"]), [CHAT]),
        ((["any"], [], ["openai.*"]), [CHAT, EMBED]),
        ((["anthropic"], [], ["openai.*"]), []),
        # The operations of a fallback count if the `operations` of both match.
        ((["openai"], ["claude"], []), [CHAT, EMBED, MESSAGES]),
        ((["openai"], ["claude"], ["openai.chat"]), [CHAT]),
        ((["anthropic"], ["embedder"], []), [EMBED, MESSAGES]),
        ((["anthropic"], ["beyond"], []), [EMBED, MESSAGES]),
        # A cycle, which `check` refuses, ends.
        ((["openai"], ["model"], []), [CHAT, EMBED]),
    ],
)
def test_a_model_has_the_operations(entry, has):
    operations = table(
        model=entry,
        claude=(["anthropic"], [], []),
        embedder=(["openai"], [], ["openai.embed"]),
        beyond=(["anthropic"], ["embedder"], []),
    )
    assert list(operations.of("model")) == has


def test_a_target_takes_what_its_entry_has_and_its_upstream_speaks():
    operations = table(narrow=(["any"], [], ["openai.chat"]), wide=(["any"], [], []))
    assert operations.language("narrow", "openai", CHAT) == ""
    assert operations.language("narrow", "", CHAT) == ""
    assert operations.language("narrow", "openai", EMBED) is None
    assert operations.language("wide", "openai", EMBED) == ""
    assert operations.language("wide", "openai", MESSAGES) is None


def test_what_lies_below_a_missing_path_is_missing_too():
    below = ModelOperation("openai.count", "openai", "/v1/responses/input_tokens")
    beside = ModelOperation("openai.other", "openai", "/v1/responses_of_old")
    targets = (TargetConfig("chat", "", 1.0),)
    models = {"model": Model("model", targets, (), "model", "me", 0, ())}
    assert [*ModelOperations(models, UPSTREAMS, (below, beside)).of("model")] == [beside]


# With translation.

LANGUAGES = {"openai": ("completions", "responses"), "anthropic": ("messages",)}
PATHS = {"completions": "/chat", "responses": "/responses", "messages": "/messages"}
COUNTERPARTS = dict.fromkeys(("completions", "responses", "messages"), LANGUAGES)
COMPLETIONS = ModelOperation("openai.chat", "openai", "/chat", "completions")
RESPONSES = ModelOperation("openai.respond", "openai", "/responses", "responses")
CLAUDE = ModelOperation("anthropic.messages", "anthropic", "/messages", "messages")
CHATS = (COMPLETIONS, RESPONSES, CLAUDE)


def translating(translate="strict", **models):
    """The same as `table`, with chats and `translate` for every model."""
    entries = {}
    for name, (to, fallback, operations) in models.items():
        targets = tuple(TargetConfig(upstream_name, "", 1.0) for upstream_name in to)
        entries[name] = Model(
            name, targets, tuple(fallback), name, "me", 0, tuple(operations), translate
        )
    return ModelOperations(entries, UPSTREAMS, (*CHATS, EMBED), COUNTERPARTS, PATHS)


@pytest.mark.parametrize(
    ("entry", "has"),
    [
        ((["openai"], [], []), [COMPLETIONS, RESPONSES, CLAUDE, EMBED]),
        ((["anthropic"], [], []), [COMPLETIONS, RESPONSES, CLAUDE]),
        # Its operations name one chat: it has this one, and every other by translation.
        ((["openai"], [], ["openai.chat"]), [COMPLETIONS, RESPONSES, CLAUDE]),
        # They do not name the chat that its upstream takes as it is.
        ((["anthropic"], [], ["openai.chat"]), [COMPLETIONS, RESPONSES]),
        # Its operations name no chat: it has none.
        ((["openai"], [], ["openai.embed"]), [EMBED]),
        ((["anthropic"], [], ["openai.embed"]), []),
        # An upstream without a dialect takes every operation as it is.
        ((["any"], [], ["openai.chat"]), [COMPLETIONS]),
        ((["openai"], ["claude"], ["openai.embed"]), [EMBED]),
    ],
)
def test_a_model_has_every_chat_if_it_has_one(entry, has):
    operations = translating(model=entry, claude=(["anthropic"], [], []))
    assert list(operations.of("model")) == has


@pytest.mark.parametrize(
    ("to", "operation", "language"),
    [
        (["chat"], COMPLETIONS, ""),
        (["chat"], RESPONSES, "completions"),
        (["chat"], CLAUDE, "completions"),
        # Of several upstreams each gets what all of them have.
        (["openai", "chat"], RESPONSES, "completions"),
        (["openai"], RESPONSES, ""),
    ],
)
def test_requests_for_a_path_that_an_upstream_is_missing_are_translated(to, operation, language):
    operations = translating(model=(to, [], []))
    assert operations.language("model", "openai", operation) == language
    assert list(operations.of("model")) == [COMPLETIONS, RESPONSES, CLAUDE, EMBED]


def test_requests_are_not_translated_into_what_the_upstream_is_missing():
    operations = translating(model=(["bare"], [], []))
    assert operations.language("model", "openai", CLAUDE) is None
    assert list(operations.of("model")) == []


def test_the_operations_of_a_model_come_before_what_an_upstream_is_missing():
    operations = translating(model=(["chat"], [], ["openai.respond"]))
    assert operations.language("model", "openai", RESPONSES) == ""
    assert operations.language("model", "openai", CLAUDE) == "responses"


def test_an_upstream_without_any_path_of_its_dialect_has_no_operation():
    operations = translating("off", model=(["bare"], [], []))
    assert list(operations.of("model")) == []


def test_a_model_that_is_not_translated_has_the_chats_of_its_upstreams():
    operations = translating("off", model=(["anthropic"], [], []))
    assert list(operations.of("model")) == [CLAUDE]
    assert operations.language("model", "openai", CLAUDE) is None


@pytest.mark.parametrize(
    ("names", "dialect", "operation", "language"),
    [
        ([], "openai", COMPLETIONS, ""),
        ([], "openai", RESPONSES, ""),
        ([], "openai", CLAUDE, "completions"),
        ([], "anthropic", RESPONSES, "messages"),
        ([], "anthropic", EMBED, None),
        ([], "", CLAUDE, ""),
        (["openai.chat"], "openai", RESPONSES, "completions"),
        (["openai.respond"], "openai", COMPLETIONS, "responses"),
        (["openai.respond"], "openai", CLAUDE, "responses"),
        (["openai.respond"], "anthropic", CLAUDE, None),
        (["openai.embed"], "openai", CLAUDE, None),
        (["anthropic.*"], "openai", CLAUDE, "completions"),
    ],
)
def test_requests_are_translated_into_the_first_language_that_the_model_has(
    names, dialect, operation, language
):
    operations = translating(model=(["openai"], [], names))
    assert operations.language("model", dialect, operation) == language


def test_targets_that_get_requests_as_they_are_come_first_in_each_entry():
    operations = translating(
        model=(["anthropic", "openai"], ["spare"], []),
        spare=(["anthropic", "any"], [], []),
    )
    targets = [
        (each.entry, each.target.upstream, each.language)
        for each in operations.targets("model", COMPLETIONS)
    ]
    assert targets == [
        ("model", "openai", ""),
        ("model", "anthropic", "messages"),
        ("spare", "any", ""),
        ("spare", "anthropic", "messages"),
    ]


COUNT = ModelOperation("anthropic.count", "anthropic", "/messages/count", counts="messages")
COUNTED_CHAT = ModelOperation("openai.chat", "openai", "/chat", language="chat_completions")
COUNTED_MESSAGES = ModelOperation("anthropic.messages", "anthropic", "/messages", "messages")
COUNTED_COUNTERPARTS = {
    name: {"openai": ("chat_completions",), "anthropic": ("messages",)}
    for name in ("chat_completions", "messages")
}


@pytest.mark.parametrize(
    ("upstream_name", "translate", "names", "has"),
    [
        ("openai", "strict", (), True),
        ("openai", "off", (), False),
        ("openai", "strict", ("openai.chat",), True),
        ("openai", "strict", ("openai.embed",), False),
        ("anthropic", "strict", ("anthropic.messages",), False),  # the operator left it out
        ("anthropic", "off", (), True),
        ("cloud", "off", (), True),
        ("cloud", "strict", ("anthropic.messages",), False),
    ],
)
def test_tokens_are_counted_for_requests_that_can_be_made(upstream_name, translate, names, has):
    operations = counting({"m": ([upstream_name], [])}, translate, names)
    assert (COUNT in operations.of("m")) is has


def counting(entries, translate="strict", names=()):
    """`{name: ([upstreams], [fallbacks])}`."""
    models = {}
    for name, (to, fallback) in entries.items():
        targets = tuple(TargetConfig(upstream_name, "", 1.0) for upstream_name in to)
        models[name] = Model(name, targets, tuple(fallback), name, "me", 0, tuple(names), translate)
    all_operations = (COUNTED_CHAT, EMBED, COUNTED_MESSAGES, COUNT)
    return ModelOperations(models, UPSTREAMS, all_operations, COUNTED_COUNTERPARTS)


@pytest.mark.parametrize(
    ("to", "fallback", "targets"),
    [
        (["cloud"], [], []),
        (["cloud", "anthropic"], [], []),  # one of several is missing the path
        (["openai"], ["cloud"], []),
        (["cloud"], ["anthropic"], ["anthropic"]),
        (["anthropic"], ["cloud"], ["anthropic"]),
    ],
)
def test_tokens_are_counted_where_an_upstream_is_missing_the_path(to, fallback, targets):
    spares = {"anthropic": (["anthropic"], []), "cloud": (["cloud"], [])}
    operations = counting({"m": (to, fallback), **spares})
    assert COUNT in operations.of("m")
    assert [each.target.upstream for each in operations.targets("m", COUNT)] == targets

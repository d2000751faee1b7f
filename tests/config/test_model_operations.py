"""The operations of each model."""

import pytest

from engine.config.model_operations import ModelOperation, ModelOperations, join_operation_names
from engine.config.models import Model, TargetConfig
from tests.support.upstreams import Client, upstream

CHAT, EMBED, MESSAGES = (
    ModelOperation("openai.chat", "openai"),
    ModelOperation("openai.embed", "openai"),
    ModelOperation("anthropic.messages", "anthropic"),
)
UPSTREAMS = {
    name: upstream(Client(), name=name, dialect="" if name == "any" else name)
    for name in ("openai", "anthropic", "any")
}


def table(**models):
    """`name=([upstreams], [fallbacks], [operations])`."""
    entries = {}
    for name, (to, fallback, operations) in models.items():
        targets = tuple(TargetConfig(upstream_name, "", 1.0, ()) for upstream_name in to)
        entries[name] = Model(name, targets, tuple(fallback), name, "me", 0, (), tuple(operations))
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


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "no operation"), (1, "s.0"), (2, "s.0 and s.1"), (3, "s.0, s.1 and s.2")],
)
def test_operations_are_listed_in_a_sentence(count, words):
    assert join_operation_names(ModelOperation(f"s.{n}", "") for n in range(count)) == words


def test_many_operations_are_cut_in_a_sentence():
    assert join_operation_names([CHAT] * 100).endswith("openai.chat and 92 more")

"""Temperature, top_p, top_k and verbosity for OpenAI's models."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest
from engine.translations.openai_sampling import write_sampling, write_verbosity
from engine.values.wildcard import Patterns


def write(model: str, effort: str | None = None, **members: Any) -> tuple[dict[str, bytes], Losses]:
    losses = Losses(Patterns(()))
    values = {name: Raw(value) for name, value in members.items()}
    request = ChatRequest(language="generate_content", model="m", messages=[], **values)
    written = write_sampling(request, model, effort, losses)
    return {name: bytes(value) for name, value in written.items()}, losses


@pytest.mark.parametrize(
    ("model", "effort"),
    [
        ("gpt-4o", None),
        ("gpt-5-chat-latest", None),
        ("gpt-5.1", "none"),
        ("gpt-5.1", None),
        ("gpt-5.5", "none"),
        ("mistral-large", "high"),
    ],
)
def test_a_model_that_does_not_reason_takes_both(model: str, effort: str | None) -> None:
    written, losses = write(model, effort, temperature=b"0.70", top_p=b"0.9")
    assert written == {"temperature": b"0.70", "top_p": b"0.9"}
    assert not losses.losses


@pytest.mark.parametrize(
    ("model", "effort"),
    [
        ("gpt-5", None),
        ("o3", "low"),
        ("gpt-5.1", "low"),
        ("gpt-5.5", None),
        ("gpt-5.2-pro", None),
        ("gpt-5.2-codex", None),
        ("gpt-6-sol", None),
    ],
)
def test_a_model_that_reasons_takes_none(model: str, effort: str | None) -> None:
    written, losses = write(model, effort, temperature=b"0.7", top_p=b"0.5")
    assert written == {}
    assert [(loss.place, loss.hint) for loss in losses.losses] == [
        ("temperature", False),
        ("top_p", False),
    ]


def test_what_happens_without_a_parameter_is_no_loss() -> None:
    written, losses = write("gpt-5", temperature=b"1", top_p=b"1.0")
    assert (written, losses.losses) == ({}, [])


def test_vendors_defaults_are_hints() -> None:
    _, losses = write("gpt-5", top_p=b"0.95", top_k=b"64")
    assert [(loss.place, loss.hint) for loss in losses.losses] == [("top_p", True), ("top_k", True)]


def test_a_narrow_top_k_is_lost() -> None:
    _, losses = write("gpt-4o", top_k=b"5")
    assert [(loss.place, loss.hint) for loss in losses.losses] == [("top_k", False)]


@pytest.mark.parametrize(
    ("model", "verbosity", "written", "lost"),
    [
        ("gpt-5", "low", "low", False),
        ("gpt-4o", "low", None, True),
        ("gpt-4o", "medium", None, False),
        ("o3", "high", None, True),
        ("gpt-5", "", None, False),
    ],
)
def test_older_models_have_one_verbosity(
    model: str, verbosity: str, written: str | None, lost: bool
) -> None:
    losses = Losses(Patterns(()))
    request = ChatRequest(language="responses", model="m", messages=[], verbosity=verbosity)
    assert write_verbosity(request, model, losses) == written
    assert bool(losses.losses) == lost

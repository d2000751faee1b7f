"""The types of a policy: each file of this room defines `POLICY`, a value of one of the three."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Generic, TypeVar

from msgspec import Struct

from engine.config.json_schema import Schema
from engine.config.routes import Policy
from engine.config.transforms import TransformConfig
from engine.exchange.exchange import Stage
from engine.exchange.stage_services import Services
from engine.spec.schemas.member_spellings import Spellings
from engine.values.quota import Quota

Options = TypeVar("Options")


class Moment(StrEnum):
    """When a policy runs, the first moment first."""

    HEAD = "before the body"
    MODEL = "before validation"
    WRITTEN = "as written"
    LIMIT = "last"


class PolicyKind(Struct, frozen=True, kw_only=True, eq=False):
    """A policy that a config may switch on. `schema` is the JSON Schema of its options, with a
    description."""

    schema: Schema


class LimitPolicy(PolicyKind, frozen=True, kw_only=True, eq=False):
    """A policy that enforces the quota which `quota(options, currency)` returns; a new kind of
    quota needs a row in `values/quota.py: KINDS`. It raises ValueError for what a schema cannot
    express."""

    quota: Callable[[Any, str], Quota]


class StagePolicy(PolicyKind, Generic[Options], frozen=True, kw_only=True, eq=False):
    """A policy that is a stage of its own.

    `read` turns the options of the config into a typed value, which is hashable: routes with equal
    ones share the stage. It raises ValueError for what a schema cannot express. `build` makes the
    stage of one worker, which keeps no state. `moment` is when it runs: HEAD; MODEL, or WRITTEN
    behind a policy that is; or WRITTEN. `reads_body` decides
    by the options whether it needs the parsed body, None for never. `with_names` gives the options
    for bodies whose members have two spellings.

    The stage of a WRITTEN one is interrupted while it computes with a long body. Before it waits,
    or changes what other requests see, it calls `PREEMPTION.end` (`process/preemption.py`).
    """

    read: Callable[[Any], Options]
    build: Callable[[Options, Services], Stage]
    moment: Moment = Moment.HEAD
    reads_body: Callable[[Options], bool] | None = None
    with_names: Callable[[Options, Spellings], Options] | None = None


class TransformPolicy(PolicyKind, frozen=True, kw_only=True, eq=False):
    """A policy that edits requests and responses, as `transform` says."""

    transform: Callable[[Policy], TransformConfig]

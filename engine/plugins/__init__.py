"""The names that a plug-in of another distribution may import: `from engine.plugins import ...`.

They are stable: within a minor version none is removed, and none takes other arguments. All other
modules of `engine` may change at any time. `docs/how-to/plugin.md` lists what may be used of each.
"""

from __future__ import annotations

from engine.credentials.access_tokens.token import CredentialUnavailable
from engine.credentials.interface.credential import (
    Context,
    Credential,
    CredentialKind,
    LiveCredential,
)
from engine.credentials.interface.fetched import FetchedCredential
from engine.credentials.interface.fixed import HeaderCredential, QueryCredential, set_header
from engine.dialects.interface.chat_format import ChatFormat, Program
from engine.dialects.interface.dialect import Dialect
from engine.dialects.interface.model_list import ModelCard, ModelList
from engine.dialects.interface.streams import StreamError, StreamRules
from engine.dialects.interface.usage import Count, Meter, RequestFields
from engine.dialects.interface.usage_counts import counts_in
from engine.exchange.exchange import MISSING, Exchange, Handler, Response, Stage
from engine.exchange.stage_services import Services
from engine.policies.interface import LimitPolicy, Moment, StagePolicy
from engine.upstream.choose.interface import StrategyKind, StrategyOptions
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_groups import Strategy, TargetGroup
from engine.values.errors import GatewayError
from engine.values.quota import AMOUNT, Quota
from engine.values.quota_sharers import BY, SHARING_KEYS
from engine.values.quota_window import WINDOW_KEYS, window_of
from engine.values.upstream_request import UpstreamRequest as Request
from engine.values.usage import OutputFields, Usage

__all__ = [
    "AMOUNT",
    "BY",
    "MISSING",
    "SHARING_KEYS",
    "WINDOW_KEYS",
    "ChatFormat",
    "Context",
    "Count",
    "Credential",
    "CredentialKind",
    "CredentialUnavailable",
    "Dialect",
    "Exchange",
    "FetchedCredential",
    "GatewayError",
    "Handler",
    "HeaderCredential",
    "LimitPolicy",
    "LiveCredential",
    "Meter",
    "ModelCard",
    "ModelList",
    "Moment",
    "OutputFields",
    "Program",
    "QueryCredential",
    "Quota",
    "Request",
    "RequestFields",
    "Response",
    "Services",
    "Stage",
    "StagePolicy",
    "Strategy",
    "StrategyKind",
    "StrategyOptions",
    "StreamError",
    "StreamRules",
    "Target",
    "TargetGroup",
    "Usage",
    "counts_in",
    "set_header",
    "window_of",
]

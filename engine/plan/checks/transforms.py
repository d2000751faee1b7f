"""Checks of `transform`: its templates, names, conflicts, and conflicts with credentials."""

from __future__ import annotations

from collections.abc import Iterable

from engine.config.config import Config
from engine.config.transforms import TransformConfig
from engine.config.upstreams import UpstreamConfig
from engine.source.problem import Findings
from engine.transforms.compile import compile_transform
from engine.transforms.faults import Faults


def check_transforms(config: Config, findings: Findings) -> None:
    """Note the faults of the transforms of upstreams, targets and models."""
    for upstream in config.upstreams.values():
        _check(upstream.transform, upstream, config, findings)
    targets = [target for model in config.models.values() for target in model.targets]
    targets += [target for route in config.routes for target in route.to]
    for target in targets:
        _check(target.transform, config.upstreams.get(target.upstream), config, findings)
    for model in config.models.values():
        check_transforms_of_callers(model.transform, config, findings)


def check_transforms_of_callers(
    configs: Iterable[TransformConfig], config: Config, findings: Findings
) -> None:
    """Note the faults of transforms of the caller's side, whose options match the schema."""
    _check(configs, None, config, findings, upstream_side=False)


def _check(
    configs: Iterable[TransformConfig],
    upstream: UpstreamConfig | None,
    config: Config,
    findings: Findings,
    *,
    upstream_side: bool = True,
) -> None:
    configured = upstream.credentials if upstream is not None else ()
    credentials = [("header", credential.header) for credential in configured if credential.header]
    credentials += [
        ("query", credential.parameter) for credential in configured if credential.parameter
    ]
    for transform in configs:
        faults = Faults()
        compile_transform(transform, upstream=upstream_side, faults=faults, credentials=credentials)
        for fault in faults.found:
            at = (*transform.at, *fault.at)
            findings.error(config.source, at, fault.code, fault.message, fault.hint, key=fault.key)

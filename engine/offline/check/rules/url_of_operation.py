"""An upstream's URL that ends with the path of an operation, which is appended to it."""

from __future__ import annotations

from urllib.parse import urlsplit

from engine.offline.check.audit import AuditCase


def check(case: AuditCase) -> None:
    paths: dict[str, set[str]] = {}
    for route in case.plan.routes:
        specification = case.config.specs[route.operation.spec]
        paths.setdefault(specification.dialect, set()).add(route.operation.path)
    for name, upstream in case.config.upstreams.items():
        path = urlsplit(upstream.url).path
        every = (path for of_dialect in paths.values() for path in of_dialect)
        served = paths.get(upstream.dialect, ()) if upstream.dialect else every
        suffix = max((p for p in served if "{" not in p and path.endswith(p)), key=len, default="")
        if len(suffix) > 1:
            message = f"the URL ends with '{suffix}', which is appended to it for each request"
            hint = f"write the base: {upstream.url.removesuffix(suffix)}"
            case.warn(("upstreams", name, "url"), "MW475", message, hint)

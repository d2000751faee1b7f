"""A minimal config in a folder, and its plan."""

import os
from pathlib import Path

from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import PlanResult

CONFIG = """
version: 1
specs: {shop: {document: shop.yaml}}
upstreams: {shop: {url: "http://127.0.0.1:9"}}
routes: [{operations: shop.*, to: [{upstream: shop}]}]
"""
DOCUMENT = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths: {/a: {get: {operationId: a, responses: {"200": {description: A}}}}}
"""


class Shop:
    """The files of the config; `make` plans their current text."""

    def __init__(self, folder: Path) -> None:
        self.config, self.document = folder / "gateway.yaml", folder / "shop.yaml"
        self.config.write_text(CONFIG)
        self.document.write_text(DOCUMENT)

    def make(self) -> PlanResult:
        return make_plan(self.config, os.environ)

"""A gateway that tells callers of their usage: five tokens, two teams under a third, two tags."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.values.caller import digest
from tests.support.paths import ROOT
from tests.support.recording import answer, recorder
from tests.support.running import Running, gateway
from tests.support.small import COMPLETION, project

SECRETS = {name: f"mw-{name}" + "0" * 61 for name in ("ann", "ben", "cid", "dan", "eve")}
MORE = """
prices: {one: {input: 1000, output: 1000}}  # a request costs 0.01
teams:
  company: {token_budget: 1000000/day}
  search: {in: company, budget: 5 USD/month}
  ads: {in: company}
tags:
  customer: {header: x-customer, trusted: [ann]}
  project: $request.body#/metadata/project
stores: {records: "sqlite:///records.db"}
"""
POLICIES = (
    "[rate_limit: {requests: 60, per: 1h, by: [token, model]}, "
    "rate_limit: {requests: 9000, per: 1h, by: all}]"
)
TOKENS = f"""\
  - {{name: ann, team: search, sha256: {digest(SECRETS["ann"])}, rate: 100/1h, concurrency: 5}}
  - {{name: ben, team: search, sha256: {digest(SECRETS["ben"])}}}
  - {{name: cid, sha256: {digest(SECRETS["cid"])}}}
  - {{name: dan, team: ads, sha256: {digest(SECRETS["dan"])}}}
  - {{name: eve, team: company, sha256: {digest(SECRETS["eve"])}}}
"""
ROUTES = """
  - {operation: modelway.getUsage, answer: usage}
  - {operation: modelway.listUsageRequests, answer: usage_requests}
"""


@contextmanager
def usage_gateway(folder: Path) -> Iterator[Running]:
    """The gateway, whose upstream has a completion for every request; its records are the file
    `records.db` in the folder of its log."""
    with recorder() as upstream:
        upstream.speak = answer(json.dumps(COMPLETION).encode())
        text = project(folder, upstream.url, {"chat": POLICIES}, more=MORE, workers=1)
        _add_plain_path(folder / "small.json")
        plain = '  - {operation: small.plain, model: "$request.body#/model"}'
        text = text.replace("\nroutes:\n", f"\nroutes:\n{plain}\n")
        text = text.replace("\ntokens:\n", f"{ROUTES}tokens:\n{TOKENS}")
        document = f'modelway: {{document: "{ROOT}/openapi/modelway.yaml"}}'
        text = text.replace("specs: {", f"specs: {{{document}, ")
        with gateway(folder, text) as running:
            yield running


def _add_plain_path(file: Path) -> None:
    """The chat at the path at which agents ask for it."""
    document = json.loads(file.read_text())
    (chat,) = document["paths"].values()
    document["paths"]["/chat/completions"] = {"post": {**chat["post"], "operationId": "plain"}}
    file.write_text(json.dumps(document))

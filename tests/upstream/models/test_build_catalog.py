"""How the catalog of models is built from the config."""

from __future__ import annotations

from functools import partial

from engine.config.models import Model
from engine.exchange.stage_services import Services
from engine.upstream import choose
from engine.upstream.models.build_catalog import build_catalog


def test_a_model_is_made_at_its_first_request_and_watched() -> None:
    groups: list[object] = []
    strategy = partial(choose.build, Services())
    entries = {name: Model(name, (), (), "", "", 0) for name in ("m", "x*")}
    catalog = build_catalog(entries, {}, strategy, watch=groups.extend)
    assert (catalog.find("other"), groups) == (None, [])
    models = [catalog.find(name) for name in ("x1", "x2", "x1")]
    assert models == [catalog.model("x*")] * 3
    assert groups == [*catalog.model("x*").groups]

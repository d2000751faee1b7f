"""What the routes of one worker share."""

import pytest
import yaml

from engine.app.routes.worker_parts import identity, is_observed, parts_of
from engine.app.services.machine_stores import open_shared
from engine.app.services.worker_services import services_of
from engine.edge.inside_call import InsideCalls
from engine.offline.rehearsal.observation import UpstreamAnswers
from engine.offline.rehearsal.stand_ins import recorder
from tests.support import yaml_text
from tests.support.rehearsing import CONFIG, planned

TRANSFORM = {"request": {"header": {"set": {"x-a": "1"}}}}


def parts(folder, config=CONFIG):
    plan = planned(folder, config).plan
    client = recorder([], UpstreamAnswers())
    return parts_of(
        *(plan, services_of(plan), client, open_shared(plan.config), identity, InsideCalls())
    )


def catalog_models(shared):
    return [shared.catalog.model(name) for name in shared.plan.config.models]


def test_targets_of_one_upstream_share_its_client(tmp_path):
    shared = parts(tmp_path)
    targets = [t for model in catalog_models(shared) for g in model.groups for t in g.targets]
    main = [target for target in targets if target.upstream.name == "main"]
    assert len(main) > 1
    assert {id(target.client) for target in main} == {id(shared.upstreams["main"].client)}


def test_models_with_transforms_are_those_that_edit_requests(tmp_path):
    config = yaml_text.load(CONFIG)
    assert not parts(tmp_path, yaml.safe_dump(config)).models_with_transform
    config["models"]["big"]["transform"] = TRANSFORM
    assert [m.name for m in parts(tmp_path, yaml.safe_dump(config)).models_with_transform] == [
        "big"
    ]


@pytest.mark.parametrize(
    ("upstream", "model", "expected"),
    [
        ({}, {}, []),
        ({"health": {"path": "/health"}}, {}, ["big"]),
        ({"resolve": {"every": "5s"}}, {}, ["big"]),
        ({}, {"choose": "least_busy"}, ["big"]),
        ({}, {"to": [{"upstream": "extra", "max_in_flight": 2}]}, ["big"]),
    ],
)
def test_a_worker_makes_the_models_that_metrics_show_before_their_first_request(
    tmp_path, upstream, model, expected
):
    config = yaml_text.load(CONFIG)
    config["upstreams"]["extra"] = {"url": "http://extra.test/v1", "dialect": "openai", **upstream}
    config["models"]["big"] = {"to": [{"upstream": "extra"}], **model}
    shared = parts(tmp_path, yaml.safe_dump(config))
    models = shared.plan.config.models.values()
    names = [m.name for m in models if is_observed(m.to, m.choose, shared.plan.config)]
    assert names == expected
    entries = {entry for each in shared.upstreams.values() for entry, _ in each.states}
    assert entries == set(expected)

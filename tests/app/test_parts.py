"""What the routes of one worker share."""

import yaml

from engine.app.parts import identity, parts_of
from engine.app.stores import open_shared, services_of
from engine.offline.rehearsal.observation import UpstreamAnswers
from engine.offline.rehearsal.stand_ins import recorder
from tests.support.rehearsing import CONFIG, planned

TRANSFORM = {"request": {"header": {"set": {"x-a": "1"}}}}


def parts(folder, config=CONFIG):
    plan = planned(folder, config).plan
    client = recorder([], UpstreamAnswers())
    return parts_of(plan, services_of(plan.config), client, open_shared(plan.config), identity)


def test_targets_of_one_upstream_share_its_client(tmp_path):
    shared = parts(tmp_path)
    targets = [t for model in shared.catalog.values() for g in model.groups for t in g.targets]
    main = [target for target in targets if target.upstream.name == "main"]
    assert len(main) > 1
    assert {id(target.client) for target in main} == {id(shared.upstreams["main"].client)}


def test_models_with_transforms_are_those_that_edit_requests(tmp_path):
    config = yaml.safe_load(CONFIG)
    assert not parts(tmp_path, yaml.safe_dump(config)).transformed
    config["models"]["big"]["transform"] = TRANSFORM
    assert [m.name for m in parts(tmp_path, yaml.safe_dump(config)).transformed] == ["big"]

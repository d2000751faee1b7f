"""The settings of a config in effect, and the form in which they are compared."""

import msgspec
import pytest

from engine.offline.diff.difference import Side, differences_between
from engine.offline.diff.kinds.settings import fields_of, settings
from tests.offline.diff.test_difference import CONFIG, DOCUMENT
from tests.support.rehearsing import patched, planned

STORES = {"records": "sqlite:///var/modelway.db", "journal": "var/journal"}
LOG = {"access_log": {"path": "var/access.log"}}


def test_the_same_relative_paths_in_two_folders_are_no_difference(tmp_path):
    tls = dict.fromkeys(("ca", "certificate", "key"), "identity.pem")
    patch = {"stores": STORES, "telemetry": LOG, "upstreams": {"main": {"tls": tls}}}
    config = patched(CONFIG, patch)
    sides = [planned(tmp_path / name, config, DOCUMENT) for name in ("a", "a-longer-name")]
    assert differences_between(*sides) == []
    assert differences_between(*reversed(sides)) == []


@pytest.mark.parametrize("key", STORES)
def test_another_relative_path_is_a_difference(tmp_path, key):
    config = patched(CONFIG, {"stores": STORES})
    other = config.replace(STORES[key], STORES[key].replace("var/", "run/"))
    (difference,) = differences_between(
        planned(tmp_path / "a", config, DOCUMENT), planned(tmp_path / "b", other, DOCUMENT)
    )
    assert difference.place.line == 1 + other[: other.index(f"{key}:")].count("\n")


def settings_of(folder, config):
    return settings(Side.of(planned(folder, config, DOCUMENT)))


def test_a_default_is_a_setting(tmp_path):
    pool = settings_of(tmp_path, CONFIG)["upstreams", "spare", "pool", "size"]
    assert (pool.value, pool.pattern) == (100, "upstreams.*.pool.size")
    assert pool.subject == "upstream spare"


def test_each_timeout_is_a_setting_in_seconds(tmp_path):
    all_settings = settings_of(tmp_path, CONFIG)
    assert all_settings["upstreams", "main", "timeouts", "connect"].value == 2.0
    assert all_settings["upstreams", "main", "timeouts", "total"].value == 300.0


def test_a_route_is_known_by_its_operation_and_placed_by_its_index(tmp_path):
    setting = settings_of(tmp_path, CONFIG)["routes", "shop.show", "validate"]
    assert (setting.subject, setting.at) == ("shop.show", ("routes", 1, "validate"))


def test_the_fields_of_the_access_log_are_those_in_effect(tmp_path):
    path = ("telemetry", "access_log", "fields")
    fields = settings_of(tmp_path, CONFIG)[path].value
    config = patched(CONFIG, {"telemetry": {"access_log": {"fields": list(fields)}}})
    assert settings_of(tmp_path, config)[path].value == fields


def test_tokens_and_policies_are_not_settings(tmp_path):
    sections = {path[0] for path in settings_of(tmp_path, CONFIG)}
    assert sections.isdisjoint({"tokens", "policies"})


def test_the_keys_of_a_field_are_its_name_in_the_file_or_that_of_the_attribute():
    class Section(msgspec.Struct):
        plain: int = 0
        renamed: int = msgspec.field(default=0, name="log.level")

    assert [*fields_of(Section)] == [("plain", ("plain",)), ("renamed", ("log", "level"))]

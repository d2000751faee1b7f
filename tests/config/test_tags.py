"""`tags:` of gateway.yaml; tests/cases/configs/tags.yaml has what is refused."""

from engine.config.tags import RESERVED
from engine.stores.database.totals import KINDS
from engine.values.quota_sharers import Sharer
from tests.support.configs import read_config


def test_a_tag_is_a_part_of_the_request():
    config = read_config(
        "tags:\n  a: $request.body#/metadata/a\n  b: {claim: tenant}\n"
        "  c: {header: X-Customer, trusted: [shop]}\n"
    )
    assert {tag.name: tag.place for tag in config.tags} == {
        "a": Sharer("body", "/metadata/a"),
        "b": Sharer("claim", "tenant"),
        "c": Sharer("header", "x-customer", ("shop",)),
    }
    assert str(config.tags[2]) == "c: header:x-customer of shop"


def test_no_grouping_of_reports_can_be_a_tag():
    assert set(KINDS) <= RESERVED

"""Requests of a batch that were edited are uploaded again."""

import pytest

from engine.app.batch_file import BatchFileUpload
from engine.app.file_calls import CannotCopy
from engine.exchange.body import Body
from engine.exchange.opened_ids import Holder
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange

TO = Holder("there", 1)


class Calls:
    def upload(self, exchange, facts, body, to):
        assert (facts.size, to) == (body.size, TO)
        if body.size == 2:
            raise CannotCopy("there is no room.")
        return f"files/{facts.name}"


def test_the_new_file_has_an_id_of_its_own():
    assert BatchFileUpload(Calls())(new_exchange(), Body(b"a"), TO) == "files/batch.jsonl"


def test_a_file_that_its_vendor_does_not_take_is_a_failure():
    with pytest.raises(GatewayError, match="cannot be uploaded: there is no room") as raised:
        BatchFileUpload(Calls())(new_exchange(), Body(b"ab"), TO)
    assert raised.value.status == 502

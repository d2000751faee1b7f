"""Which call a result answers. Calls of older models have no ids: results follow by their order."""

from __future__ import annotations

from collections import OrderedDict


class PendingCalls:
    """The calls of a request that have no result yet, in their order.

    Adding and taking cost the same however many are pending.
    """

    def __init__(self) -> None:
        self._names: OrderedDict[str, str] = OrderedDict()
        """The name of the function of each call, by the id of the call."""
        self._ids: dict[str, OrderedDict[str, None]] = {}
        """The ids of the calls of each function."""

    def add(self, name: str, call_id: str) -> None:
        """A call of a function; its id is not empty."""
        self._remove(call_id)
        self._names[call_id] = name
        self._ids.setdefault(name, OrderedDict())[call_id] = None

    def take(self, name: str, call_id: str = "") -> str:
        """The id of the call that a result of a function answers, which is pending no more.

        It is the id that the result names. Without one it is the oldest call of the function, else
        the oldest call of any, "" if no call is pending.
        """
        if not call_id:
            call_id = next(iter(self._ids.get(name) or self._names), "")
        self._remove(call_id)
        return call_id

    def _remove(self, call_id: str) -> None:
        name = self._names.pop(call_id, None)
        if name is not None:
            del self._ids[name][call_id]

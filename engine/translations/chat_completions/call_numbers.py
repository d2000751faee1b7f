"""Which call of an answer a fragment of a call belongs to."""

from __future__ import annotations


class CallNumbers:
    """The running numbers of the calls of one choice. `count` is how many have begun."""

    def __init__(self) -> None:
        self.count = 0
        self._calls: dict[int, tuple[int, str]] = {}
        """The number and the id of the last call of each index."""

    def number(self, index: int | None, vendor_id: str, name: str) -> int:
        """The running number of the call of a fragment.

        Some vendors give every call the same index, or none at all: another id is another call, and
        so is a name without an index.
        """
        index_or_last = -1 if index is None else index
        number, last_id = self._calls.get(index_or_last, (-1, ""))
        is_new = number < 0 or (bool(name) and bool(vendor_id) and vendor_id != last_id)
        if index is None and name and not vendor_id:
            is_new = True
        if is_new:
            number = self.count
            self.count += 1
            self._calls[index_or_last] = (number, vendor_id)
        return number

"""The calls of a choice: which one a fragment belongs to, and those that have not begun."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from engine.translations.chat_completions.answer_fields import Call, Function
from engine.translations.neutral import content as neutral
from engine.translations.neutral import events
from engine.translations.neutral.calls import WRAPPER, unwrapped
from engine.translations.neutral.json_members import OBJECT, value_of
from engine.values.event_json import joined_objects


def single_calls(fragments: Iterable[Call]) -> Iterator[Call]:
    """The fragments. One with the arguments of several calls is one of each: some servers join all
    that has one index."""
    for fragment in fragments:
        function = fragment.function or fragment
        text = function.arguments or function.parameters or ""
        if (texts := joined_objects(text)) == [text]:
            yield fragment
            continue
        for number, arguments in enumerate(texts):
            single = Function(name=function.name, arguments=arguments)
            yield replace(fragment, id=None if number else fragment.id, function=single)


class CallNumbers:
    """The running numbers of the calls of one choice. `count` is how many have begun."""

    def __init__(self) -> None:
        self.count = 0
        self._calls: dict[int, tuple[int, str]] = {}
        """The number and the id of the last call of each index."""

    def number(
        self, index: int | None, vendor_id: str, name: str, is_partial: Callable[[], bool]
    ) -> int:
        """The running number of the call of a fragment. `is_partial` says whether the last call
        lacks some of its arguments.

        Some vendors give every call the same index, or none at all: another id is another call, and
        so is a name without an index. Others count the fragments of one call: what has neither id
        nor name goes on with a call that is not complete.
        """
        number, last_id = self._calls.get(-1 if index is None else index, (-1, ""))
        is_new = number < 0 or (bool(name) and bool(vendor_id) and vendor_id != last_id)
        if index is None and name and not vendor_id:
            is_new = True
        if is_new and not name and not vendor_id and is_partial():
            number, is_new = self.count - 1, False
        return self.begin(index, vendor_id) if is_new else number

    def begin(self, index: int | None, vendor_id: str) -> int:
        """The running number of a new call, to which the next fragments of its index belong."""
        number = self.count
        self.count += 1
        self._calls[-1 if index is None else index] = (number, vendor_id)
        return number


_NO_ARGUMENTS = ("", "{}")


class AnnouncedCalls:
    """Completes the beginnings of calls, by their running numbers.

    The id, the name and the first arguments of a call come together or in several fragments, and
    the name itself may come in pieces. It is complete when the arguments begin; a call without
    arguments is complete when something else follows. Its `{}` may be all of them, or stand in
    place of others that follow.
    """

    def __init__(self) -> None:
        self.waiting: dict[int, neutral.ToolCall] = {}
        """The calls that have not begun."""
        self._names: dict[int, str] = {}
        self.signatures: dict[int, str] = {}

    @property
    def lacks_arguments(self) -> bool:
        call = next(reversed(self.waiting.values()), None)
        return call is not None and bool(call.name) and call.arguments in _NO_ARGUMENTS

    @property
    def is_whole(self) -> bool:
        """Whether each call that has not begun has whole arguments, or none."""
        return all(has_whole_arguments([call.arguments]) for call in self.waiting.values())

    def is_empty(self, number: int) -> bool:
        """Whether a call that has not begun has `{}` for arguments."""
        call = self.waiting.get(number)
        return call is not None and call.arguments == "{}"

    def has_begun(self, number: int, name: str) -> bool:
        """Whether a call has begun. Raises BrokenAnswer for more of its name behind that."""
        earlier = self._names.get(number)
        if earlier is not None and name and name != earlier:
            raise events.BrokenAnswer("the upstream's answer changes the name of a tool call")
        return earlier is not None

    def name(self, number: int) -> str:
        return self._names[number]

    def add(self, number: int, call_id: str, name: str, arguments: str) -> bool:
        """Take a fragment of a call that has not begun. Returns whether its arguments begin."""
        if (call := self.waiting.get(number)) is None:
            call = self.waiting[number] = neutral.ToolCall(id=call_id, name="")
        if name != call.name:  # some vendors repeat it
            call.name += name
        if call.arguments == "{}" and arguments:
            call.arguments = ""
        if call.arguments or arguments.strip() not in ("", "null"):  # some write these for none
            text, call.arguments = call.arguments, ""
            text += arguments  # grows in place: nothing else has it
            call.arguments = text
        is_text = call.arguments[:1] == '"'  # whose end alone shows that it is one of an object
        if is_text or call.name == WRAPPER:
            return False
        return bool(call.name) and call.arguments not in _NO_ARGUMENTS

    def take(self, last: int | None = None) -> Iterator[tuple[int, neutral.ToolCall, str]]:
        """The calls in their order, up to the `last` or all: they begin now."""
        for number in [*self.waiting]:
            call = self.waiting.pop(number)
            self._names[number] = call.name
            arguments, call.arguments = unwrapped(call.arguments), ""
            yield number, call, arguments
            if number == last:
                return


def is_complete(pieces: list[str]) -> bool:
    """Whether the text of arguments cannot go on: it is the JSON of a whole object. Its pieces
    become one, so that none is joined each time: and only where the last one may be the end."""
    if pieces and (last := pieces[-1].rstrip()) and not last.endswith("}"):
        return False
    arguments = "".join(pieces)
    pieces[:] = [arguments]
    return arguments.rstrip().endswith("}") and value_of(OBJECT, arguments) is not None


def has_whole_arguments(pieces: list[str]) -> bool:
    """Whether the text of arguments is that of a whole object, or a call has none."""
    arguments = "".join(pieces).strip()
    return not arguments or value_of(OBJECT, unwrapped(arguments)) is not None

"""The load of a target, shared by the workers of a machine: its requests in flight, and its answer
times."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256

from engine.upstream.client.response import is_event_stream
from engine.upstream.targets.answer_times import AnswerTimes
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_groups import TargetGroup
from engine.upstream.targets.target_state import IN_FLIGHT, Load, OpenAttempt, name_on_machine
from engine.values.machine_state import MachineState

_BUSY = frozenset({408, 429})


class TargetLoad:
    """The load of one target, an observer of its attempts."""

    __slots__ = ("_record", "moves", "times")

    def __init__(self, machine: MachineState, name: str) -> None:
        self._record = machine.record(name_on_machine(name))
        self.times = AnswerTimes(machine, name)
        self.moves: Counter[str] = Counter()

    @property
    def in_flight(self) -> int:
        """The requests that it is answering, of all workers of the machine."""
        return self._record.total(IN_FLIGHT)

    def began(self, attempt: OpenAttempt) -> None:
        self._record.add(IN_FLIGHT, 1)

    def answered(self, attempt: OpenAttempt) -> None:
        response, now = attempt.response, attempt.first_content
        assert response is not None
        assert now is not None
        # Judged by status, because an attempt of a transparent dialect never fails.
        self.times.judge(now, failed=response.status >= 500 or response.status in _BUSY)
        if response.status == 101 or (response.status < 300 and is_event_stream(response)):
            self.times.stream_began(now - attempt.start, now)

    def failed(self, attempt: OpenAttempt) -> None:
        self.times.judge(attempt.clock(), failed=True)

    def ended(self, attempt: OpenAttempt) -> None:
        self._record.add(IN_FLIGHT, -1)
        now, response, record = attempt.end, attempt.response, attempt.record
        assert now is not None
        if attempt.failure:
            return
        if attempt.first_content is None:
            if response is None:
                self.times.unanswered(now - attempt.start, now)
            return
        assert response is not None
        end, tokens = record.response_end, record.usage.output
        if response.status >= 300 or response.status == 101 or not end:
            return
        if is_event_stream(response):
            self.times.stream_ended(end - attempt.first_content, tokens, now)
        else:
            self.times.answered(end - attempt.start, tokens, now)


class GroupLoad:
    """Counts the requests that the targets of a group are answering, as an observer of each."""

    __slots__ = ("_record", "name")

    def __init__(self, machine: MachineState, name: str) -> None:
        self.name = name
        self._record = machine.record(f"in_flight_of_group/{name}")

    @property
    def in_flight(self) -> int:
        """The requests that all of them are answering."""
        return self._record.total(IN_FLIGHT)

    def began(self, attempt: OpenAttempt) -> None:
        self._record.add(IN_FLIGHT, 1)

    def answered(self, attempt: OpenAttempt) -> None:
        """Do nothing: the request is in flight until it ends."""

    def failed(self, attempt: OpenAttempt) -> None:
        """Do nothing: the request is in flight until it ends."""

    def ended(self, attempt: OpenAttempt) -> None:
        self._record.add(IN_FLIGHT, -1)


def group_load(group: TargetGroup, machine: MachineState) -> GroupLoad:
    """Start counting the load of a group. Groups with the same configured targets share it."""
    load = GroupLoad(machine, sha256(group.name.encode()).hexdigest()[:16])
    for target in group.targets:
        state = target.state
        loads = (each for each in state.observers if isinstance(each, GroupLoad))
        if all(each.name != load.name for each in loads):
            state.observers += (load,)
    return load


def load_of(target: Target, machine: MachineState) -> Load:
    """Start measuring the load of a target. Targets that share their state share it."""
    state = target.state
    if state.load is None:
        state.load = TargetLoad(machine, state.name)
        state.observers += (state.load,)
    return state.load

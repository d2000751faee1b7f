"""What workers tell their master when they boot."""

import os

from engine.server.boot_pipe import BootPipe


def test_the_master_reads_which_workers_booted_and_why_others_failed():
    pipe = BootPipe()
    pipe.receive()
    assert (pipe.booted, pipe.failures) == (set(), [])
    pipe.tell_booted(3)
    pipe.tell_failed("the journal\ncannot be kept")
    pipe.tell_booted(4)
    pipe.receive()
    assert pipe.booted == {3, 4}
    assert pipe.failures == ["the journal cannot be kept"]
    assert pipe.errors == {os.getpid(): "the journal cannot be kept"}
    assert pipe.crashes == 0


def test_a_crash_is_a_failure_and_is_counted():
    pipe = BootPipe()
    pipe.tell_crashed("MemoryError()")
    pipe.receive()
    assert (pipe.failures, pipe.crashes) == (["MemoryError()"], 1)


def test_a_reason_of_any_length_is_one_message():
    pipe = BootPipe()
    for _ in range(20):
        pipe.tell_failed("é" * 100_000)
    pipe.tell_booted(1)
    pipe.receive()
    assert len(pipe.failures) == 20
    assert pipe.booted == {1}

"""What workers tell their master when they boot."""

from engine.server.boot_pipe import BootPipe


def test_the_master_reads_which_workers_booted_and_why_others_failed():
    pipe = BootPipe()
    assert pipe.look() is False
    pipe.tell_booted(3)
    pipe.tell_failed("the journal\ncannot be kept")
    pipe.tell_booted(4)
    assert pipe.look() is True
    assert pipe.booted == {3, 4}
    assert pipe.failures == ["the journal cannot be kept"]
    assert pipe.look() is False


def test_a_reason_of_any_length_is_one_message():
    pipe = BootPipe()
    for _ in range(20):
        pipe.tell_failed("é" * 100_000)
    pipe.tell_booted(1)
    pipe.look()
    assert len(pipe.failures) == 20
    assert pipe.booted == {1}

"""Tokens that reloads removed, as the master publishes them and the older workers read them."""

from engine.callers.revocation import REMOVED
from engine.server.removed_tokens import RemovedTokens
from engine.values.caller import Caller

A, B = Caller("a"), Caller("b", expires=2000.0)


def test_nothing_is_written_while_no_token_was_removed(tmp_path):
    tokens = RemovedTokens(tmp_path, {"a": A})
    tokens.publish({"a": A, "b": B})
    assert (list(tmp_path.iterdir()), tokens.read()) == ([], {})


def test_a_removed_token_has_ended_until_a_config_has_it_again(tmp_path):
    tokens = RemovedTokens(tmp_path, {"a": A, "b": B})
    tokens.publish({"b": B})
    assert tokens.read() == {"a": REMOVED}
    tokens.publish({})  # a worker of the first config may still serve
    assert tokens.read() == {"a": REMOVED, "b": REMOVED}
    tokens.publish({"a": A, "b": B})
    assert tokens.read() == {}


def test_a_token_that_expires_earlier_now_has_its_new_end(tmp_path):
    tokens = RemovedTokens(tmp_path, {"a": A, "b": B})
    tokens.publish({"a": Caller("a", expires=1500.0), "b": B})
    assert tokens.read() == {"a": 1500.0}


def test_a_removed_issuer_has_ended_until_a_config_has_it_again(tmp_path):
    tokens = RemovedTokens(tmp_path, {}, {"jwt:a"})
    tokens.publish({}, (), {"jwt:a", "jwt:b"})
    tokens.publish({}, ["jwt:b\n1"], {"jwt:b"})
    assert tokens.read() == {"jwt:a": REMOVED, "jwt:b\n1": REMOVED}
    tokens.publish({}, (), {"jwt:a"})
    assert tokens.read() == {"jwt:b": REMOVED}


def test_what_was_read_stays_true_when_the_folder_is_removed(tmp_path, caplog):
    folder = tmp_path / "runtime"
    folder.mkdir()
    tokens = RemovedTokens(folder, {"a": A})
    tokens.publish({})
    assert tokens.read() == {"a": REMOVED}
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    assert tokens.read() == {"a": REMOVED}
    tokens.publish({"b": B})
    assert "go on until their worker ends" in caplog.text

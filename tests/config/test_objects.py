"""`objects:` as values, and keys that can be guessed."""

from engine.config.objects import Objects, check_tags
from engine.source.problem import Findings
from tests.support.configs import read_config, read_errors
from tests.support.each import each

KEY, OTHER = "0123456789abcdef" * 2, "fedcba9876543210" * 2


def test_without_the_section_no_id_is_sealed():
    assert read_config("").objects == Objects(()) == Objects((), "token", "refuse")


@each(
    ("text", "expected"),
    [
        (f"{{key: {KEY}}}", Objects((KEY,))),
        (f"{{key: [{KEY}, {OTHER}]}}", Objects((KEY, OTHER))),
        (f"{{key: {KEY}, owner: team, legacy: pass}}", Objects((KEY,), "team", "pass")),
    ],
)
def test_a_ring_of_keys(text, expected):
    assert read_config(f"objects: {text}\n").objects == expected


def test_the_key_comes_from_the_environment_and_is_not_shown():
    objects = read_config("objects: {key: '${KEY}'}\n", {"KEY": KEY}).objects
    assert objects.ring == (KEY,)
    assert KEY not in repr(objects)


@each(
    ("text", "code"),
    [
        ("{key: short}", "MW104"),
        (f"{{key: {'a' * 64}}}", "MW104"),
        (f"{{key: [{KEY}, {KEY}]}}", "MW104"),
        (f"{{key: {KEY}, owner: me}}", "MW104"),
        ("{owner: team}", "MW102"),
    ],
)
def test_a_key_that_can_be_guessed_is_an_error(text, code):
    assert [found for *_, found in read_errors(f"objects: {text}\n")] == [code]


def test_two_upstreams_need_two_tags(tmp_path):
    config, findings = read_config(""), Findings()
    check_tags(["a", "b"], [b"1", b"2"], config.source, findings)
    assert findings.problems == []
    check_tags(["a", "b", "c"], [b"1", b"2", b"1"], config.source, findings)
    assert ["'a' and 'c'" in problem.message for problem in findings.errors] == [True]

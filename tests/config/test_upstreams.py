"""An upstream as a value: what its callers could choose besides the model, and must not."""

from tests.support.configs import read_config


def choices(permitted):
    text = f"upstreams: {{main: {{url: http://host, provider: openrouter{permitted}}}}}\n"
    return [choice.name for choice in read_config(text).upstreams["main"].choices]


def test_what_the_config_does_not_permit_callers_must_not_choose():
    known = choices("")
    assert "models" in known
    assert choices(", caller_choices: [models]") == [name for name in known if name != "models"]
    assert choices(", caller_choices: ['*']") == []

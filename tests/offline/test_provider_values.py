"""What providers lay under the entries of `upstreams`."""

from pathlib import Path

from engine.config.load import load_file
from engine.offline.provider_values import with_provider_values
from engine.source.problem import Findings, place_of


def completed(folder, entry, **environ):
    """The config with provider values, for one upstream."""
    file = folder / "gateway.yaml"
    file.write_text(f"upstreams:\n  one: {entry}\n")
    _, document = load_file(Path(file), environ, Findings())
    return with_provider_values(document)


def test_values_of_the_entry_are_kept_and_have_their_own_place(tmp_path):
    document, _ = completed(tmp_path, "{provider: groq, dialect: plain}")
    assert document.value["upstreams"]["one"]["dialect"] == "plain"
    assert place_of(document, ("upstreams", "one", "dialect")).file.endswith("gateway.yaml")
    place = place_of(document, ("upstreams", "one", "url"))
    assert place.file == "engine/providers/groq.yaml"


def test_a_variable_without_a_value_stays(tmp_path):
    document, _ = completed(tmp_path, "{provider: vertex, variables: {location: us}}")
    url = document.value["upstreams"]["one"]["url"]
    assert url.startswith("https://aiplatform.us.rep.googleapis.com/v1beta1/projects/{project}/")


def test_an_unknown_provider_adds_nothing(tmp_path):
    document, transforms = completed(tmp_path, "{provider: nobody}")
    assert document.value == {"upstreams": {"one": {"provider": "nobody"}}}
    assert transforms == {}

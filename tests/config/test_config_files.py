"""The files of a config, as a variable names them."""

from pathlib import Path

from engine.config.config_files import ConfigFiles


def test_overlays_follow_the_base_behind_colons():
    files = ConfigFiles.parse("a/gateway.yaml:prod.yaml:eu.yaml")
    assert files == ConfigFiles(Path("a/gateway.yaml"), (Path("prod.yaml"), Path("eu.yaml")))
    assert str(files) == "a/gateway.yaml + prod.yaml + eu.yaml"


def test_a_file_whose_name_has_a_colon_is_one_file(tmp_path):
    (tmp_path / "a:b.yaml").touch()
    assert ConfigFiles.parse(f"{tmp_path}/a:b.yaml") == ConfigFiles(tmp_path / "a:b.yaml")

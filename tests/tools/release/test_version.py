"""The version is written into every file that names it."""

import pytest

from tools.release.version import PLACES, set_version

FILES = {
    "pyproject.toml": '[project]\nversion = "{}"\nrequires-python = ">=3.11"\n',
    "deploy/Containerfile": 'LABEL a.image.title="x" \\\n      a.image.version="{}"\n',
    "deploy/helm/modelway/Chart.yaml": 'apiVersion: v2\nversion: {}\nappVersion: "{}"\n',
    "docs/how-to/ci.md": "rev: v{}\n- uses: actions/checkout@v4\n- uses: OWNER/modelway@v{}\n",
    "action.yml": "# `uses: <this repository>@v{}` runs it\n    - uses: actions/setup-python@v5\n",
    "deploy/kustomize/base/kustomization.yaml": "images:\n  - name: modelway\n    newTag: {}\n",
}


def write(root, names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(FILES[name].replace("{}", "0.1.0"))


@pytest.mark.parametrize("version", ["0.2.0", "0.2.0rc1"])
def test_every_file_has_the_version(tmp_path, version):
    write(tmp_path, FILES)
    assert set_version(tmp_path, version) == list(PLACES) == list(FILES)
    for name, text in FILES.items():
        assert (tmp_path / name).read_text() == text.replace("{}", version)


def test_a_file_that_there_is_not_is_left_out(tmp_path):
    write(tmp_path, ["pyproject.toml"])
    assert set_version(tmp_path, "0.2.0") == ["pyproject.toml"]


def test_a_file_without_a_version_is_an_error(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    with pytest.raises(ValueError, match=r"pyproject\.toml has no version"):
        set_version(tmp_path, "0.2.0")


def test_a_version_has_its_form(tmp_path):
    with pytest.raises(ValueError, match="'v2' is no version"):
        set_version(tmp_path, "v2")

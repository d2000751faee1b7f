"""The cluster finds on the page for Kubernetes the commands that it runs."""

from __future__ import annotations

from trials.cluster.releases import scripts_of_page


def test_the_commands_of_the_page_are_found() -> None:
    install, records, layer = scripts_of_page()
    assert "\nhelm upgrade --install gateway " in install
    assert records.startswith("kubectl create secret generic records ")
    assert layer.startswith("kubectl apply ")

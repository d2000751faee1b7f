"""`console:` of gateway.yaml: the web pages that are served."""

from __future__ import annotations

from dataclasses import dataclass

from engine.config.keys import default


@dataclass(frozen=True, slots=True)
class Console:
    """The pages that are served; the home page whenever the console is `enabled`."""

    enabled: bool = default("console.enabled")
    playground: bool = default("console.playground")
    docs: bool = default("console.docs")

    def has(self, template: str) -> str:
        """The page on this path, in words; "" if there is none."""
        if not self.enabled:
            return ""
        if template == "/":
            return "home page"
        if self.docs and template in ("/docs", "/openapi.json"):
            return "reference"
        if self.playground and template in ("/console/playground", "/console/models.json"):
            return "playground"
        return "page files" if template.startswith("/console/page/") else ""

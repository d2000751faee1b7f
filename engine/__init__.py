"""Modelway, a gateway for AI models. CONTRIBUTING.md draws the rooms and the way of a request."""

"""Requests with large bodies, which workers pass to processes of their own."""

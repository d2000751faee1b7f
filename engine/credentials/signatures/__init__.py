"""Signatures of requests, as functions of what is sent. No sockets, no clocks."""

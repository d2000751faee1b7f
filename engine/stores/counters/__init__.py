"""Stores that count limits: `memory.py` (one machine), `redis/` (many), `fallback.py` (Redis, and
memory while Redis is away). The interface is `values/counters.py`; read `windows.py` first.
"""

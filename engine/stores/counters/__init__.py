"""Counters of limits: `memory.py` for one machine, `redis.py` for many. The contract is
`values/counters.py`.
"""

"""Bounds of the requests in flight to an upstream or a target: `gate.py` is one bound with its
queue, in one worker; `slots.py` are the slots of all bounds that one attempt holds. The law is
in `stores/admission/queue.py`.
"""

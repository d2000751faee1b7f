"""How many requests an upstream or a target gets at one time: `gate.py` is one bound with its queue
as a worker sees it, `places.py` what one attempt holds of all its target's bounds. The law is in
`stores/admission/queue.py`.
"""

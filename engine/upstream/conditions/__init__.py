"""Conditions of the rules under `when` of a model, which choose its targets by what a request is. A
condition judges a request only; where it goes is in `models/model_catalog.py`. Read `compile.py`
first.
"""

"""Checks of a plan, one module per subject: each notes problems of the config, and changes nothing.
`assembly/make_plan.py` calls them.
"""

"""PLAN: makes a Plan of Routes from the config and the documents. All names are resolved here, and
all problems are reported at once. Read `assembly/make_plan.py` first, then `route.py`.
"""

"""Puts the plan together: documents, operations, models, tools and MCP servers for each route.
Read `make_plan.py` first.
"""

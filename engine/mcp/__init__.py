"""MCP: operations as tools of agents, their schemas, descriptions and arguments. Read `tool.py`
first. What speaks to clients is in `protocol/`, what asks other servers in `remote/`, and models as
tools are in `models/`.
"""

"""Operations as tools of agents (MCP): their schemas, descriptions and arguments. Read `tool.py`
first. What speaks to clients is in `protocol/`.
"""

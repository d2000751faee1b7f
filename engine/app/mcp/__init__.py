"""The MCP servers of a worker: `servers.py` makes their routes, `tool_calls.py` answers messages,
and `remote_server.py` asks the servers behind the gateway.
"""

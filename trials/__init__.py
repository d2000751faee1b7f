"""The product among real servers: what it must survive, and where it must run.

`fleet` brings faults on several gateways and their stores; `empty_machine` does what the pages say
on an empty Debian; `image` builds and runs the container image; `cluster` gives the chart to a real
API server. Each is `python -m trials.NAME`, and says in its docstring what it needs.
"""

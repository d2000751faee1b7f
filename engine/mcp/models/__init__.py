"""Models as tools of agents: `chat`, `embed`, `generate_image`, `transcribe`, `rerank`. Read
`kinds.py` first; `model_tool.py` makes a tool of one, `results.py` reads the answers."""

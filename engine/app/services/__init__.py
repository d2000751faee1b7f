"""What a worker or the recorder uses, opened as the config asks: `worker_services.py` lists all of
a worker's, `recorder_work.py` those of the recorder. `telemetry.py` and `exporters.py` set up logs,
metrics and traces, and `plan_needs.py` says what a plan can do without.
"""

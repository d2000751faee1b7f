"""The page of operations, which the telemetry listener serves beside the metrics: what happens now,
for who has no Grafana. Read `report.py` first.
"""

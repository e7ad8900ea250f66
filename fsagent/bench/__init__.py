"""The benchmark harness: data, systems, runner, metrics, judges, reports."""

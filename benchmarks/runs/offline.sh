#!/usr/bin/env bash
# Everything on the offline model, no key and no network, as one report with the three views of the
# key; the embeddings where their extra is installed. About three minutes on two cores.
# usage: benchmarks/runs/offline.sh LOCOMO.json ERRATA.json OUT REPORT.md
# writes REPORT.md and beside it REPORT.json, the runs' manifests: neither holds text of the data
set -euo pipefail
data=${1:?the LoCoMo file}; errata=${2:?the errata}; out=${3:?a folder for the runs}
report=${4:?the report to write}
here=$(dirname "$0")
"$here/baselines.sh" "$data" "$out" >/dev/null
if fsagent doctor --json | grep -q '"  \[vectors\]", "status": "ok", "words": "installed"'; then
  "$here/embeddings.sh" "$data" "$out" >/dev/null
fi
runs=()
for system in oracle agent search bm25 bm25-session grep embeddings full-context no-memory; do
  [ ! -e "$out/$system/run.json" ] || runs+=("$out/$system")
done
fsagent bench report "${runs[@]}" --errata "$errata" --html "$out/report.html" \
  --manifest "${report%.md}.json" >"$report"

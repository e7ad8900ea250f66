#!/usr/bin/env bash
# Several systems with one model of an OpenAI-compatible server, on the same 30 questions, judged by
# nothing; then each against the agent, pair by pair. About a minute a question on a small machine.
# usage: benchmarks/runs/endpoint.sh LOCOMO.json OUT MODEL BASE_URL
set -euo pipefail
data=${1:?the LoCoMo file}; out=${2:?a folder}; model=${3:?a model}; url=${4:?its base URL}
systems=${SYSTEMS:-agent bm25 full-context no-memory}
for system in $systems; do
  more=(); [ -e "$out/$system/run.json" ] && more=(--resume)
  fsagent bench locomo --data "$data" --system "$system" --model "$model" --base-url "$url" \
    --sample conv-26 --limit "${LIMIT:-30}" --out "$out/$system" --cache "$out/cache" \
    "${more[@]}" >/dev/null || echo "$system: incomplete" >&2
done
runs=(); for system in $systems; do runs+=("$out/$system"); done
fsagent bench report "${runs[@]}" --html "$out/report.html"
for system in $systems; do
  [ "$system" = agent ] || fsagent bench compare "$out/$system" "$out/agent"
done

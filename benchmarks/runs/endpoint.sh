#!/usr/bin/env bash
# Several systems with one model of an OpenAI-compatible server, on the same 30 questions of one
# conversation, drawn by a seed; then each against the agent, pair by pair.
# usage: benchmarks/runs/endpoint.sh LOCOMO.json OUT MODEL BASE_URL [REPORT.md]
# Set FSAGENT_CONTEXT_TOKENS to the model's window, so that full-context shows what fits. On two cores
# a 1.5B model takes half an hour for all four: FSAGENT_TIMEOUT_S and FSAGENT_IDLE_TIMEOUT_S must let
# it read a long prompt (900 each), FSAGENT_MAX_TOKENS bounds a reply that does not end.
set -euo pipefail
data=${1:?the LoCoMo file}; out=${2:?a folder}; model=${3:?a model}; url=${4:?its base URL}
report=${5:-$out/report.md}
systems=${SYSTEMS:-no-memory full-context bm25 agent}
export FSAGENT_TEMPERATURE=${FSAGENT_TEMPERATURE:-0}
runs=()
for system in $systems; do
  more=(); [ -e "$out/$system/run.json" ] && more=(--resume)
  fsagent bench locomo --data "$data" --system "$system" --model "$model" --base-url "$url" \
    --sample "${SAMPLE:-conv-26}" --draw "${QUESTIONS:-30}" --budget "${BUDGET:-600}" \
    --out "$out/$system" --cache "$out/cache" "${more[@]}" >/dev/null || echo "$system: incomplete" >&2
  runs+=("$out/$system")
done
{
  fsagent bench report "${runs[@]}" --html "$out/report.html" --manifest "${report%.md}.json"
  for system in $systems; do
    [ "$system" = agent ] || (cd "$out" && fsagent bench compare "$system" agent | sed 's/^# /\n## /')
  done
} >"$report"

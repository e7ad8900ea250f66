#!/usr/bin/env bash
# Judge runs that are there, strictly and generously, with the calibration; nothing is asked again.
# What could not be judged is listed in the report, and asked for by the same command again.
# usage: benchmarks/runs/judged.sh JUDGE_MODEL REPORT.md RUN...
# The judge's address in OPENAI_BASE_URL, its key in OPENAI_API_KEY; CALIBRATION questions (default 30).
# CACHE names a folder for its replies, so that several runs share the calibration's.
set -euo pipefail
judge=${1:?a model to judge}; report=${2:?the report to write}; shift 2
export FSAGENT_TEMPERATURE=${FSAGENT_TEMPERATURE:-0}
for run in "$@"; do
  fsagent bench locomo --evaluate-only --out "$run" --judge strict --judge generous \
    --judge-model "$judge" --calibration "${CALIBRATION:-30}" --workers "${WORKERS:-4}" \
    ${CACHE:+--cache "$CACHE"} >/dev/null \
    || echo "$run: incomplete" >&2
done
fsagent bench report "$@" --manifest "${report%.md}.json" >"$report"

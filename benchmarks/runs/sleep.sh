#!/usr/bin/env bash
# What sleep makes of LoCoMo's conversations: the offline model on all that the file holds, with the
# default budget of core and with one of 150 tokens; with a model's name and address, that model
# on conv-30 as well, with the shipped prompt and with a directed one.
# usage: benchmarks/runs/sleep.sh LOCOMO.json OUT [MODEL BASE_URL]
# MINUTES bounds each of these two (default 18): no session is begun after that.
set -euo pipefail
data=${1:?the LoCoMo file}; out=${2:?a folder}
here=$(cd "$(dirname "$0")/.." && pwd)
python "$here/sleep.py" "$data" "$out/offline"
# A budget that the facts do not fit into: the oldest go to archival, and core stays under it.
python "$here/sleep.py" "$data" "$out/tight" --core-tokens 150
if [ $# -ge 4 ]; then
  export FSAGENT_TIMEOUT_S=${FSAGENT_TIMEOUT_S:-900} FSAGENT_IDLE_TIMEOUT_S=${FSAGENT_IDLE_TIMEOUT_S:-900}
  export FSAGENT_MAX_TOKENS=${FSAGENT_MAX_TOKENS:-600}
  for prompt in shipped directed; do
    more=(); [ "$prompt" = directed ] && more=(--prompt "$here/prompts/sleep_small_model.md")
    python "$here/sleep.py" "$data" "$out/model-$prompt" --sample conv-30 --model "$3" --base-url "$4" \
      --minutes "${MINUTES:-18}" --context-tokens "${FSAGENT_CONTEXT_TOKENS:-8192}" "${more[@]}"
  done
fi

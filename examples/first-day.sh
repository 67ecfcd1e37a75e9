#!/bin/sh
# A first day with VERA, from the first question to a service that another program asks.
# In a clone: sh examples/first-day.sh [FOLDER]. What it makes is in FOLDER, by default first-day/. It installs
# VERA into .venv, with the extra for MCP, unless VERA names the command to use.
set -eu
cd "$(dirname "$0")/.."
day=${1:-first-day}
vera=${VERA:-python3 run.py}
port=${PORT:-8855}
step() { printf '\n== %s\n' "$1"; }
fails_with() { # CODE COMMAND…: the command has to end with this exit code
  wanted=$1; shift
  code=0; "$@" || code=$?
  [ "$code" = "$wanted" ] || { echo "exit code $code, and $wanted was expected: $*" >&2; exit 1; }
}

if [ -z "${VERA:-}" ]; then
  step "0. install VERA, and what speaks MCP"
  $vera --version
  .venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[mcp]'
fi

step "1. the first question"
$vera run "For how many years must a written offer to provide source be valid under the GPL version 3?" \
  --input-dir examples/licences --base-dir "$day" --work-dir "$day/first" --quiet

step "2. your own PDF"
$vera run "When does the lease end?" --input-dir examples/lease --base-dir "$day" --work-dir "$day/lease" --quiet

step "3. your own Word file"
$vera run "What did the electricity meter show?" \
  --input-dir examples/lease --base-dir "$day" --work-dir "$day/handover" --quiet

step "4. a follow-up"
$vera ask "How much is the rent a month?" --session "$day/lease" --base-dir "$day" --work-dir "$day/more" --quiet

step "5. a thesis, which the lease contradicts"
fails_with 4 $vera verify "The tenant pays a deposit of 2,840 euros." \
  --input-dir examples/lease --base-dir "$day" --work-dir "$day/thesis" --quiet

step "6. a check, as in CI: one number of the note is wrong"
fails_with 4 $vera check examples/lease/note.md --sources examples/lease

step "7. anyone checks it again"
$vera replay "$day/first"
$vera export "$day/first" --bundle "$day/first.zip"
$vera replay "$day/first.zip"

step "8. the service, asked with curl"
token=$($vera token add first-day --token-file "$day/tokens.json")
$vera serve --base-dir "$day/service" --input-root examples/lease --token-file "$day/tokens.json" \
  --port "$port" >"$day/service.log" 2>&1 &
service=$!
trap 'kill $service 2>/dev/null || true' EXIT
for _ in $(seq 300); do curl -sf "http://127.0.0.1:$port/healthz" >/dev/null && break; sleep 0.2; done
curl -sf "http://127.0.0.1:$port/v1/chat/completions" -H "Authorization: Bearer $token" \
  -H "Content-Type: application/json" \
  -d '{"model": "vera", "messages": [{"role": "user", "content": "When does the lease end?"}]}'
kill "$service"

step "9. another agent, over MCP"
mkdir -p "$day/mcp"
{ # An agent keeps the connection open until it has its answer.
  printf '%s\n' \
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"first-day","version":"1"}}}' \
    '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
    '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' \
    '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"verify_claim","arguments":{"thesis":"The rent is 1,240 euros a month."}}}'
  for _ in $(seq 300); do grep -q '"id":3' "$day/mcp/answers" 2>/dev/null && break; sleep 0.2; done
} | $vera mcp --input-dir examples/lease --base-dir "$day/mcp" --model-base-url builtin | tee "$day/mcp/answers"

step "10. from Python"
${PYTHON:-.venv/bin/python} - "$day" <<'PYTHON'
import sys

import vera

verdict = vera.verify(
    "The rent is 1,240 euros a month.",
    input_dir="examples/lease",
    base_dir=sys.argv[1] + "/python",
    overrides=["model.base_url=builtin"],
)
print(verdict.word, [verdict.sources[card.source].name for card in verdict.cards.values()])
PYTHON
printf '\nThat was a day. What it made is in %s.\n' "$day"

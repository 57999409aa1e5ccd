#!/usr/bin/env bash
# Registers a client tool with curl only: registers it, polls for requests, acknowledges them, submits results.
#
#   examples/lend-a-tool.sh                 # in one terminal
#   npx patchboard call clock.utc
set -euo pipefail

url=${PATCHBOARD_URL:-http://127.0.0.1:8080}
client=wall-clock
left=${CALLS:-0} # number of calls to run before exit; 0: no limit

send() { # METHOD PATH [BODY]
  curl --silent --show-error --fail-with-body --request "$1" "$url$2" \
    --header 'Content-Type: application/json' ${3:+--data "$3"}
}

response=$(send POST /internal/tools/register '{
  "client_id": "'"$client"'",
  "tools": [{
    "name": "clock.utc",
    "description": "Tells the time of the machine that lends it, in UTC.",
    "schema": {"type": "object", "properties": {}, "additionalProperties": false},
    "timeout_ms": 10000
  }]
}')
case $response in
  '{"ok":true,'*) echo "lending clock.utc at $url" ;;
  *) echo "rejected: $response" >&2 && exit 1 ;;
esac

while :; do
  # Long poll: the server responds when there is a request, after 30 seconds at most.
  requests=$(send GET "/internal/clients/$client/requests?wait=30")
  # The schema allows no arguments, so a match cannot come from one.
  for id in $(grep -o '"tool_call_id":"[^"]*"' <<<"$requests" | cut -d '"' -f 4); do
    # After the ack, the server does not send the request again.
    send POST "/internal/tool_calls/$id/ack" >/dev/null
    send POST "/internal/tool_calls/$id/submit" \
      '{"status": "SUCCEEDED", "result": {"utc": "'"$(date -u +%Y-%m-%dT%H:%M:%SZ)"'"}}'
    echo
    left=$((left - 1))
    if ((left == 0)); then
      send DELETE "/internal/clients/$client/tools" && echo
      exit 0
    fi
  done
done

#!/usr/bin/env python3
"""An agent that calls a tool and polls for its result. Requires the package `requests`.

    python3 examples/agent-polling.py calculation.eval '{"expression": "(3+4)*6"}'
"""
import json
import os
import sys
import time

import requests

URL = os.environ.get("PATCHBOARD_URL", "http://127.0.0.1:8080")
ENDED = ("SUCCEEDED", "FAILED", "TIMEOUT")


def invoke(tool_name, args, run_id):
    """Invokes the tool and returns the id of the recorded call."""
    response = requests.post(
        f"{URL}/v1/tools/{tool_name}/invoke",
        json={"run_id": run_id, "args": args},
        timeout=10,
    )
    if not response.ok:
        raise SystemExit(f"refused: {response.json()['detail']}")
    return response.json()["tool_call_id"]


def wait(tool_call_id, timeout=60):
    """Polls until the call has ended. `Prefer: wait` makes each request a long poll, so the loop need not sleep."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        response = requests.get(
            f"{URL}/v1/tool_calls/{tool_call_id}",
            headers={"Prefer": "wait=10"},
            timeout=20,
        )
        response.raise_for_status()
        call = response.json()
        if call["status"] in ENDED:
            return call
    raise SystemExit(f"{tool_call_id} did not end within {timeout} seconds")


def main():
    tool_name = sys.argv[1] if len(sys.argv) > 1 else "calculation.eval"
    args = json.loads(sys.argv[2]) if len(sys.argv) > 2 else {"expression": "(3+4)*6"}
    call = wait(invoke(tool_name, args, run_id="run_polling"))
    if call["status"] != "SUCCEEDED":
        raise SystemExit(f"{call['state']}: {call['error']['message']}")
    print(json.dumps(call["result"], ensure_ascii=False))


if __name__ == "__main__":
    main()

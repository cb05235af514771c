#!/usr/bin/env bash
# Verifies valid and forged fire tokens with the stock client's own verifier, and compares its verdicts with ours. The
# last line has the number of differences.
#
# usage: fire.sh [--client VERSION] [COUNT]

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/client.sh"

choose_client "$@"
have_client

cd "$repo"
tokens=$(mktemp)
trap 'rm -f "$tokens"' EXIT
"$(dirname "${NIGHTDESK_BIN:-$repo/target/debug/nightdesk}")/examples/mint-fire" "${rest[@]}" >"$tokens"

PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" - "$tokens" "$version" <<'PYTHON'
import http.server
import json
import logging
import sys
import threading

from plugins.cron_providers.chronos.verify import get_fire_verifier

with open(sys.argv[1]) as file:
    minted = json.load(file)
keys = json.dumps(minted["jwks"]).encode()


class Keys(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(keys)

    def log_message(self, *_):
        pass


# The verifier logs a reason for every forgery.
logging.disable(logging.CRITICAL)
served = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Keys)
threading.Thread(target=served.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{served.server_port}/oauth/jwks.json"

verify = get_fire_verifier()
wrong = 0
for case in minted["tokens"]:
    claims = verify(
        token=case["token"],
        expected_audience=minted["audience"],
        jwks_or_key=url,
        issuer=minted["issuer"],
    )
    if (claims is not None) != case["good"]:
        wrong += 1
        judged = "refused" if claims is None else "believed"
        print(f"{case['name']}: the stock client {judged} it")
print(f"fire-tokens: client={sys.argv[2]} tokens={len(minted['tokens'])} wrong={wrong}")
sys.exit(1 if wrong or not minted["tokens"] else 0)
PYTHON

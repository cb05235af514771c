#!/usr/bin/env bash
# Answers each message with its text, exactly once, over polls, with curl, openssl and jq. A message `wait 5 WORD` takes
# five seconds. Each chat has a turn at a time; meanwhile the takes go on.
set -euo pipefail

# The name of the line, the turns (CHAT.turn: its process; ENTRY: it was begun or handled), and the waiting entries.
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
touch "$state/line"

# A fresh token for each request: docs/protocol.md, section 1.
token() {
    local signed signature
    signed="$NIGHTDESK_GATEWAY:$(($(date +%s) + 300))"
    signature=$(printf %s "$signed" | openssl dgst -sha256 -hmac "$NIGHTDESK_SECRET" -r | cut -d' ' -f1)
    printf %s "$signed:$signature" | base64 -w0 | tr '+/' '-_' | tr -d '='
}

# call ROUTE BODY: prints the response. 1: there was none, or no success. 2: the line is gone.
call() {
    local line response status
    line=$(cat "$state/line")
    [ -n "$line" ] || [ "$1" = take ] || return 2
    response=$(jq -c --arg line "$line" 'if $line == "" then . else . + {line: $line} end' <<<"$2" |
        curl --silent --max-time 70 --write-out '\n%{http_code}' "$NIGHTDESK_URL/v1/line/$1" \
            --header "Authorization: Bearer $(token)" --header 'Content-Type: application/json' --data-binary @-) || return 1
    status=${response##*$'\n'}
    case $status in
        2??) printf %s "${response%$'\n'*}" ;;
        403)
            echo "the desk revoked this gateway" >&2
            kill $$
            ;;
        410)
            [ "$(cat "$state/line")" != "$line" ] || : >"$state/line"
            return 2
            ;;
        *) return 1 ;;
    esac
}

# Sends the reply under an id made of the entry's: the desk sends it once, however often it is asked.
reply() {
    local body
    body=$(jq -c '{request_id: ("reply-" + .bufferId),
        action: {op: "send", chat_id: .event.source.chat_id, content: .event.text}}' <<<"$1")
    until call send "$body" >/dev/null; do sleep 0.5; done
}

# Acknowledges, until it is done or the line is gone: then the entry comes again.
ack() {
    local result=1
    while [ $result -eq 1 ]; do
        result=0
        call ack "{\"buffer_ids\": [\"$1\"]}" >/dev/null || result=$?
        [ $result -ne 1 ] || sleep 0.5
    done
}

# turn FRAME TURN-BEFORE: runs in the background.
turn() {
    local text seconds
    while [ -n "$2" ] && kill -0 "$2" 2>/dev/null; do sleep 0.1; done
    text=$(jq -r .event.text <<<"$1")
    case $text in
        wait*)
            seconds=$(cut -d' ' -f2 <<<"$text")
            # A stop ends the wait.
            sleep "$seconds" & trap 'kill $!; end_turn "$1"; exit' TERM
            wait $!
            trap - TERM
            ;;
    esac
    reply "$1"
    end_turn "$1"
}

end_turn() {
    local entry
    entry=$(jq -r .bufferId <<<"$1")
    echo handled >"$state/$entry"
    ack "$entry"
}

# Takes an entry. One that was handled is only acknowledged.
take_entry() {
    local entry chat before
    entry=$(jq -r .bufferId <<<"$1")
    chat=$(jq -r .event.source.chat_id <<<"$1")
    if [ ! -e "$state/$entry" ]; then
        echo begun >"$state/$entry"
        before=$(cat "$state/$chat.turn" 2>/dev/null || true)
        turn "$1" "$before" &
        echo $! >"$state/$chat.turn"
    elif [ "$(cat "$state/$entry")" = handled ]; then
        ack "$entry"
    fi
}

# Stops the turn of a chat, which is the last part of the session's key.
take_stop() {
    local chat stopped=false
    chat=$(jq -r '.session_key | split(":") | last' <<<"$1")
    ! kill -TERM "$(cat "$state/$chat.turn" 2>/dev/null || echo none)" 2>/dev/null || stopped=true
    call stopped "$(jq -c --argjson stopped $stopped '{stop_id, stopped: $stopped}' <<<"$1")" >/dev/null || true
}

take() {
    local taken frame
    taken=$(call take '{"wait_seconds": 20, "client": {"name": "poll.sh", "version": "1"}}') || return
    # The turns must never read half of it.
    jq -r .line <<<"$taken" >"$state/line.new"
    mv "$state/line.new" "$state/line"
    while read -r frame; do
        case $(jq -r .type <<<"$frame") in
            inbound) take_entry "$frame" ;;
            interrupt_inbound) take_stop "$frame" ;;
        esac
    done < <(jq -c '.frames[]' <<<"$taken")
}

while true; do
    take || sleep 0.5
done

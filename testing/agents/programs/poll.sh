#!/usr/bin/env bash
# Answers each message with its text, exactly once, over polls, with curl and jq. One turn runs at a time.
# A message `wait 5 WORD` takes five seconds.
set -euo pipefail

line=null
declare -A handled=()

# A fresh token for each request: docs/protocol.md, section 1.
token() {
    local signed signature
    signed="$NIGHTDESK_GATEWAY:$(($(date +%s) + 300))"
    signature=$(printf %s "$signed" | openssl dgst -sha256 -hmac "$NIGHTDESK_SECRET" -r | cut -d' ' -f1)
    printf %s "$signed:$signature" | base64 -w0 | tr '+/' '-_' | tr -d '='
}

# call ROUTE BODY: prints the response. Returns 1 if there was none, or no success.
call() {
    local response status
    response=$(curl --silent --max-time 70 --write-out '\n%{http_code}' "$NIGHTDESK_URL/v1/line/$1" \
        --header "Authorization: Bearer $(token)" --header 'Content-Type: application/json' --data-binary "$2") || return 1
    status=${response##*$'\n'}
    case $status in
        2??) printf %s "${response%$'\n'*}" ;;
        403) echo "the desk revoked this gateway" >&2; kill $$ ;;
        410) return 2 ;;
        *) return 1 ;;
    esac
}

# until_done ROUTE BODY: repeats a call until it succeeds, or until the line is gone.
until_done() {
    local result=0
    until call "$1" "$2" >/dev/null; do
        result=$?
        [ $result -ne 2 ] || return 2
        sleep 0.5
    done
}

answer() {
    local entry=$1 frame=$2 text chat send
    text=$(jq -r .event.text <<<"$frame")
    chat=$(jq -r .event.source.chat_id <<<"$frame")
    case $text in
        wait*) sleep "$(cut -d' ' -f2 <<<"$text")" ;;
    esac
    # An id made of the entry's: the desk sends the reply once, however often it is asked.
    send=$(jq -n --argjson line "$line" --arg id "reply-$entry" --arg chat "$chat" --arg text "$text" \
        '{line: $line, request_id: $id, action: {op: "send", chat_id: $chat, content: $text}}')
    until_done send "$send"
}

take() {
    local taken frame entry
    if [ "$line" = null ]; then
        taken=$(call take '{"wait_seconds": 0, "client": {"name": "poll.sh", "version": "1"}}') || return $?
    else
        taken=$(call take "{\"line\": $line, \"wait_seconds\": 20}") || return $?
    fi
    line=$(jq -c .line <<<"$taken")
    while read -r frame; do
        [ -n "$frame" ] || continue
        entry=$(jq -r '.bufferId // empty' <<<"$frame")
        [ -n "$entry" ] || continue
        if [ -z "${handled[$entry]:-}" ]; then
            answer "$entry" "$frame" || return $?
            handled[$entry]=1
        fi
        until_done ack "{\"line\": $line, \"buffer_ids\": [\"$entry\"]}" || return $?
    done < <(jq -c '.frames[]' <<<"$taken")
}

while true; do
    result=0
    take || result=$?
    # A line that is gone is opened again.
    [ $result -ne 2 ] || line=null
    [ $result -eq 0 ] || sleep 0.5
done

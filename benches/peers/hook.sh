#!/usr/bin/env bash
# The hook's job as a shell script would do it: count the call, charge what the transcript has new, refuse past a cap.
# The state is one line in a file under a lock.
set -euo pipefail

cap_turns=1000000000 cap_cost=1000000000
input=$(cat)
read -r session event transcript < <(jq -r '[.session_id, .hook_event_name, .transcript_path] | @tsv' <<<"$input")
state=$FUSEBOX_HOME/peer-$session.txt
exec 9>>"$state.lock"
flock 9
turns=0 cost=0 offset=0
[ ! -s "$state" ] || read -r turns cost offset <"$state"
if [ "$event" = PreToolUse ]; then turns=$((turns + 1)); fi
size=$(stat -c %s "$transcript")
if [ "$size" -gt "$offset" ]; then
    charged=$(tail -c "+$((offset + 1))" "$transcript" | jq -rRn '[inputs | fromjson? | select(.type == "assistant") | .message]
        | unique_by(.id) | map(.usage | .input_tokens * 4 + .output_tokens * 20 + .cache_creation_input_tokens * 5
        + .cache_read_input_tokens * 0.2) | (add // 0) | floor')
    cost=$((cost + charged))
fi
printf '%s %s %s\n' "$turns" "$cost" "$size" >"$state.new"
mv "$state.new" "$state"
if [ "$turns" -gt "$cap_turns" ] || [ "$cost" -gt "$cap_cost" ]; then
    jq -cn --arg reason "tool calls $turns/$cap_turns" '{hookSpecificOutput: {hookEventName: "PreToolUse",
        permissionDecision: "deny", permissionDecisionReason: $reason}}'
fi

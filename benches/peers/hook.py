"""The hook's job as a Python script would do it: count the call, charge what the transcript has new, refuse past a cap."""

import json
import os
import sqlite3
import sys

CAP_TURNS, CAP_COST = 10**9, 10**18
PRICE = {"input_tokens": 4, "output_tokens": 20, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 0.2}


def new_rows(path, offset):
    """Returns the complete new lines of a transcript and where they end."""
    try:
        with open(path, "rb") as transcript:
            transcript.seek(offset)
            chunk = transcript.read()
    except FileNotFoundError:
        return [], offset
    end = chunk.rfind(b"\n") + 1
    return chunk[:end].splitlines(), offset + end


def main():
    event = json.load(sys.stdin)
    db = sqlite3.connect(os.path.join(os.environ["FUSEBOX_HOME"], "peer.db"), timeout=5, isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute("CREATE TABLE IF NOT EXISTS session(id TEXT PRIMARY KEY, turns INTEGER, cost REAL, offset INTEGER)")
    db.execute("CREATE TABLE IF NOT EXISTS response(id TEXT PRIMARY KEY, cost REAL)")
    db.execute("BEGIN IMMEDIATE")
    row = db.execute("SELECT turns, cost, offset FROM session WHERE id = ?", (event["session_id"],)).fetchone()
    turns, cost, offset = row or (0, 0.0, 0)
    if event["hook_event_name"] == "PreToolUse":
        turns += 1
    lines, offset = new_rows(event["transcript_path"], offset)
    for line in lines:
        row = json.loads(line) if line.strip() else {}
        usage = row.get("message", {}).get("usage") if row.get("type") == "assistant" else None
        if usage:
            charge = sum(usage.get(key, 0) * price for key, price in PRICE.items()) / 1e6
            if db.execute("INSERT OR IGNORE INTO response VALUES (?, ?)", (row["message"]["id"], charge)).rowcount:
                cost += charge
    db.execute("REPLACE INTO session VALUES (?, ?, ?, ?)", (event["session_id"], turns, cost, offset))
    db.execute("COMMIT")
    if turns > CAP_TURNS or cost > CAP_COST:
        answer = {"permissionDecision": "deny", "permissionDecisionReason": f"tool calls {turns}/{CAP_TURNS}"}
        print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", **answer}}))


main()

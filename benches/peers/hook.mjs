// The hook's job as a Node script would do it: count the call, charge what the transcript has new, refuse past a cap.
// Node 20 has no SQLite of its own, so the state is a JSON file, replaced by rename.

import { closeSync, fstatSync, openSync, readFileSync, readSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const CAP_TURNS = 1e9;
const CAP_COST = 1e18;
const PRICE = { input_tokens: 4, output_tokens: 20, cache_creation_input_tokens: 5, cache_read_input_tokens: 0.2 };

function readState(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return { turns: 0, cost: 0, offset: 0, seen: {} };
  }
}

/** Returns the complete new lines of a transcript and where they end. */
function newRows(path, offset) {
  const file = openSync(path, "r");
  const chunk = Buffer.alloc(Math.max(0, fstatSync(file).size - offset));
  readSync(file, chunk, 0, chunk.length, offset);
  closeSync(file);
  const end = chunk.lastIndexOf("\n") + 1;
  return [chunk.toString("utf8", 0, end).split("\n"), offset + end];
}

const event = JSON.parse(readFileSync(0, "utf8"));
const path = join(process.env.FUSEBOX_HOME, `peer-${event.session_id}.json`);
const state = readState(path);
if (event.hook_event_name === "PreToolUse") state.turns += 1;
const [lines, offset] = newRows(event.transcript_path, state.offset);
state.offset = offset;
for (const line of lines.filter((line) => line.trim())) {
  const row = JSON.parse(line);
  const usage = row.type === "assistant" && row.message?.usage;
  if (!usage || state.seen[row.message.id]) continue;
  state.seen[row.message.id] = true;
  for (const [key, price] of Object.entries(PRICE)) state.cost += ((usage[key] ?? 0) * price) / 1e6;
}
writeFileSync(`${path}.${process.pid}`, JSON.stringify(state));
renameSync(`${path}.${process.pid}`, path);
if (state.turns > CAP_TURNS || state.cost > CAP_COST) {
  const permissionDecisionReason = `tool calls ${state.turns}/${CAP_TURNS}`;
  const answer = { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason };
  console.log(JSON.stringify({ hookSpecificOutput: answer }));
}

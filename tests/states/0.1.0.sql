PRAGMA page_size=2048;
PRAGMA journal_mode=WAL;
CREATE TABLE session (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL,
  status TEXT NOT NULL,
  started_at_ms INTEGER NOT NULL,
  last_event_at_ms INTEGER NOT NULL,
  last_active_day INTEGER NOT NULL,
  policy_id INTEGER,
  limit_set_id INTEGER,
  user_limit_set_id INTEGER,
  project_limit_set_id INTEGER,
  turns INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cost_pico_usd INTEGER NOT NULL,
  client_cost_pico_usd INTEGER,
  duration_ms INTEGER NOT NULL,
  engine TEXT NOT NULL
) STRICT;
CREATE INDEX session_by_last_active_day ON session (last_active_day);
CREATE INDEX session_that_is_open ON session (started_at_ms) WHERE status <> 'completed';
CREATE TABLE run (
  session_id TEXT NOT NULL,
  id TEXT NOT NULL,
  agent_type TEXT NOT NULL,
  name TEXT,
  parent_run_id TEXT,
  depth INTEGER NOT NULL,
  task TEXT,
  status TEXT NOT NULL,
  stop_reason TEXT,
  started_at_ms INTEGER NOT NULL,
  last_event_at_ms INTEGER NOT NULL,
  limit_set_id INTEGER,
  turns INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cost_pico_usd INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  engine TEXT NOT NULL,
  PRIMARY KEY (session_id, id)
) STRICT;
CREATE INDEX run_by_id ON run (id);
CREATE INDEX run_by_name ON run (session_id, name) WHERE name IS NOT NULL;
CREATE INDEX run_by_task ON run (task) WHERE task IS NOT NULL;
CREATE TABLE tool_call (
  session_id TEXT NOT NULL,
  id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  state TEXT NOT NULL,
  requested_at_ms INTEGER,
  engine TEXT NOT NULL,
  PRIMARY KEY (session_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE response (
  session_id TEXT NOT NULL,
  id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  model TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cost_pico_usd INTEGER NOT NULL,
  is_inherited INTEGER NOT NULL,
  engine TEXT NOT NULL,
  PRIMARY KEY (session_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX response_by_time ON response (at_ms);
CREATE TABLE event (
  id INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  kind TEXT NOT NULL,
  session_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  limit_key TEXT NOT NULL,
  record TEXT NOT NULL
) STRICT;
CREATE INDEX event_by_time ON event (at_ms);
CREATE INDEX event_by_session ON event (session_id);
CREATE TABLE policy (id INTEGER PRIMARY KEY, content TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE limit_set (id INTEGER PRIMARY KEY, limits TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE budget (
  scope TEXT NOT NULL,
  owner TEXT NOT NULL,
  day_cost_pico_usd INTEGER NOT NULL,
  week_cost_pico_usd INTEGER NOT NULL,
  month_cost_pico_usd INTEGER NOT NULL,
  engine TEXT NOT NULL,
  PRIMARY KEY (scope, owner)
) STRICT, WITHOUT ROWID;
CREATE TABLE day_sum (
  day TEXT NOT NULL,
  project TEXT NOT NULL,
  model TEXT NOT NULL,
  requests INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cost_pico_usd INTEGER NOT NULL,
  PRIMARY KEY (day, project, model)
) STRICT, WITHOUT ROWID;
CREATE TABLE metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO session VALUES ('s1', '/WORLD/project', 'running', 1795168805000, 1795168820000, 20777, 1, 1, 2, 3, 5, 2, 2060, 4000, 11680000000, NULL, 7000, '{"folder":"/WORLD/project","started":{"mono_ms":44928005000,"boot":1},"last":{"mono_ms":44928020000,"boot":1},"program":303316943,"by_model":{"claude-opus-5-5":{"requests":2,"tokens":2060,"cache_read_tokens":4000,"cost_pico_usd":11680000000}},"subagents":1,"counters":{"over":2,"dearest":{"requests":1,"tokens":1030,"cache_read_tokens":2000,"cost_pico_usd":5840000000},"typical":{"requests":1,"tokens":1030,"cache_read_tokens":2000,"cost_pico_usd":5840000000}},"main":"p-s1","prompt_id":"p-s1","position":{"path":"/WORLD/s1.jsonl","offset":510,"conversation":{"most":3010,"tells_cache":true,"compactions":2,"last":{"at_ms":1795168800000,"prompt":3010,"output":20,"cached_ms":300000}}},"compactions":2,"open":["p-s1","a1"],"reservations":[{"holder":"p-s1","spend":{"requests":1,"tokens":1030,"cache_read_tokens":2000,"cost_pico_usd":5840000000},"at":{"wall_ms":1795168812000,"mono_ms":44928012000,"boot":1},"model":"claude-opus-5-5"},{"holder":"t3","spend":{"requests":1,"tokens":1030,"cache_read_tokens":2000,"cost_pico_usd":5840000000},"at":{"wall_ms":1795168813000,"mono_ms":44928013000,"boot":1},"model":"claude-opus-5-5","first":{"requests":1,"tokens":13000,"cost_pico_usd":72500000000}}],"spawns":[{"call":"t3","run":"p-s1","at":{"wall_ms":1795168813000,"mono_ms":44928013000,"boot":1}}],"user_notifications":["Fusebox stopped developer (a1): tool calls 2/2 (max_turns, set by the user''s fusebox.json). 2 tool calls, 0.00 USD. More: `fusebox explain a1`"],"sees_batches":true,"sees_prompts":true,"is_metered":true,"config_hash":8704164716267072798}');
INSERT INTO session VALUES ('s2', '/WORLD/project', 'running', 1795168821000, 1795168823000, 20777, 1, 1, 2, 3, 1, 0, 0, 0, 0, NULL, 1000, '{"folder":"/WORLD/project","started":{"mono_ms":44928021000,"boot":1},"last":{"mono_ms":44928023000,"boot":1},"program":303316943,"counters":{},"main":"p-s2","prompt_id":"p-s2","position":{"path":"/WORLD/s2.jsonl","offset":0},"compactions":2,"open":["p-s2"],"reservations":[{"holder":"p-s2","spend":{"requests":1},"at":{"wall_ms":1795168822000,"mono_ms":44928022000,"boot":1}}],"sees_prompts":true,"config_hash":8704164716267072798}');
INSERT INTO run VALUES ('s1', 'p-s1', 'main', NULL, NULL, 0, NULL, 'running', NULL, 1795168806000, 1795168813000, 4, 3, 2, 2060, 4000, 11680000000, 7000, '{"policy":1,"started":{"mono_ms":44928006000,"boot":1},"last":{"mono_ms":44928013000,"boot":1},"working":true,"counters":{"over":2,"dearest":{"requests":1,"tokens":1030,"cache_read_tokens":2000,"cost_pico_usd":5840000000},"typical":{"requests":1,"tokens":1030,"cache_read_tokens":2000,"cost_pico_usd":5840000000}},"recent":[{"spend":{"requests":1,"tokens":1030,"cache_read_tokens":2000,"cost_pico_usd":5840000000},"output":20},{"spend":{"requests":1,"tokens":1030,"cache_read_tokens":2000,"cost_pico_usd":5840000000},"output":20}],"growth":"before","context":3030,"extremes":[3010,20],"model":"claude-opus-5-5","replay_price":[200000,20000000],"by_model":{"claude-opus-5-5":{"requests":2,"tokens":2060,"cache_read_tokens":4000,"cost_pico_usd":11680000000}},"admitted":true,"settled":true}');
INSERT INTO run VALUES ('s1', 'a1', 'developer', NULL, NULL, 1, NULL, 'failed', 'turn_limit_reached', 1795168814000, 1795168820000, 5, 2, 0, 0, 0, 0, 5000, '{"error":"Execution limit exceeded: [max_turns]","policy":1,"started":{"mono_ms":44928014000,"boot":1},"last":{"mono_ms":44928020000,"boot":1},"counters":{},"position":{"path":"/WORLD/s1/subagents/agent-a1.jsonl","offset":0},"order":{"finding":{"limit":"max_turns","scope":"run","used":2,"cap":2,"action":"terminate","layer":"user","percent":100,"increase":1},"phase":"halted","grace_left":0},"user_told":true,"warned":[["max_turns",95]],"refusing":true,"refused":1,"admitted":true}');
INSERT INTO run VALUES ('s2', 'p-s2', 'main', NULL, NULL, 0, NULL, 'running', NULL, 1795168822000, 1795168823000, 4, 1, 0, 0, 0, 0, 1000, '{"policy":1,"started":{"mono_ms":44928022000,"boot":1},"last":{"mono_ms":44928023000,"boot":1},"working":true,"counters":{},"admitted":true,"settled":true}');
INSERT INTO tool_call VALUES ('s1', 't1', 'p-s1', 'Read', 'counted', 1795168807000, '{"requested":{"mono_ms":44928007000,"boot":1},"ended":"well"}');
INSERT INTO tool_call VALUES ('s1', 't2', 'p-s1', 'Read', 'counted', 1795168810000, '{"requested":{"mono_ms":44928010000,"boot":1},"ended":"well"}');
INSERT INTO tool_call VALUES ('s1', 't3', 'p-s1', 'Agent', 'counted', 1795168813000, '{"requested":{"mono_ms":44928013000,"boot":1}}');
INSERT INTO tool_call VALUES ('s1', 't4', 'a1', 'Read', 'counted', 1795168815000, '{"requested":{"mono_ms":44928015000,"boot":1},"ended":"well"}');
INSERT INTO tool_call VALUES ('s1', 't5', 'a1', 'Read', 'counted', 1795168817000, '{"requested":{"mono_ms":44928017000,"boot":1},"ended":"well","answers":{"PreToolUse":"{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"additionalContext\":\"Fusebox: 95 % is reached: agent developer (run a1) is at tool calls 2/2 (max_turns, set by the user''s fusebox.json).\\nFusebox: used so far: tool calls 2/2 (max_turns), working time 3.0 s/10.0 min (max_duration_ms), cost 0.00/1.00 USD (max_cost_usd); of the whole session: tool calls 5/500 (max_turns), cost 0.0117/10.00 USD (max_cost_usd).\"}}"}}');
INSERT INTO tool_call VALUES ('s1', 't6', 'a1', 'Read', 'refused', 1795168819000, '{"requested":{"mono_ms":44928019000,"boot":1},"answers":{"PreToolUse":"{\"continue\":false,\"stopReason\":\"Fusebox stopped agent developer (run a1): tool calls 2/2 (max_turns, set by the user''s fusebox.json). `fusebox explain a1` tells more.\",\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"Fusebox: tool call limit reached. Execution limit exceeded: [max_turns]. Agent developer (run a1) is at tool calls 2/2 (max_turns, set by the user''s fusebox.json). This call was not run. The agent is stopped here; its work so far counts as partial.\"}}"}}');
INSERT INTO tool_call VALUES ('s2', 't7', 'p-s2', 'Bash', 'counted', 1795168823000, '{"requested":{"mono_ms":44928023000,"boot":1}}');
INSERT INTO response VALUES ('s1', 'm-t1', 'p-s1', 'claude-opus-5-5', 1795168800000, 1, 1030, 2000, 5840000000, 0, '{"output":20,"context":3010}');
INSERT INTO response VALUES ('s1', 'm-t2', 'p-s1', 'claude-opus-5-5', 1795168800000, 1, 1030, 2000, 5840000000, 0, '{"output":20,"context":3010}');
INSERT INTO event VALUES (1, 1795168817000, 'AGENT_WARNING', 's1', 'a1', 'max_turns', '{"error":"Agent reached 95 % of max_turns","taskId":"a1","agentType":"developer","turns":2,"max_turns":2,"elapsed_ms":3000,"accumulated_cost_usd":0.0,"at":"2026-11-20T10:00:17.000Z","scope":"run","action":"warn","used":2.0,"cap":2.0,"layer":"user","stop_reason":"turn_limit_reached","percent":95}');
INSERT INTO event VALUES (2, 1795168819000, 'AGENT_FAILED', 's1', 'a1', 'max_turns', '{"error":"Agent exceeded max_turns limit","taskId":"a1","agentType":"developer","turns":3,"max_turns":2,"elapsed_ms":5000,"accumulated_cost_usd":0.0,"at":"2026-11-20T10:00:19.000Z","scope":"run","action":"terminate","used":2.0,"cap":2.0,"layer":"user","stop_reason":"turn_limit_reached"}');
INSERT INTO policy VALUES (1, '{"documents":[{"layer":"built-in","path":"built in","settings":[{"place":"session","subject":{"limit":"max_cost_usd"},"value":{"cap":25000000000000},"key":"session.max_cost_usd"},{"place":"session","subject":{"key":"actions","limit":"max_cost_usd"},"value":{"action":"request_increase"},"key":"session.actions.max_cost_usd"},{"place":"main","subject":{"limit":"loop_detection"},"value":{"cap":1},"key":"main.loop_detection"},{"place":"main","subject":{"limit":"max_denials"},"value":{"cap":5},"key":"main.max_denials"},{"place":{"agents":"*"},"subject":{"limit":"max_turns"},"value":{"cap":100},"key":"agents.*.max_turns"},{"place":{"agents":"*"},"subject":{"limit":"max_duration_ms"},"value":{"cap":3600000},"key":"agents.*.max_duration_ms"},{"place":{"agents":"*"},"subject":{"limit":"max_cost_usd"},"value":{"cap":5000000000000},"key":"agents.*.max_cost_usd"},{"place":{"agents":"*"},"subject":{"key":"timeout_action"},"value":{"action":"warn"},"key":"agents.*.timeout_action"},{"place":{"agents":"*"},"subject":{"limit":"loop_detection"},"value":{"cap":1},"key":"agents.*.loop_detection"},{"place":{"agents":"*"},"subject":{"limit":"max_denials"},"value":{"cap":5},"key":"agents.*.max_denials"},{"place":{"agents":"developer"},"subject":{"limit":"max_turns"},"value":{"cap":25},"key":"agents.developer.max_turns"},{"place":{"agents":"developer"},"subject":{"limit":"max_duration_ms"},"value":{"cap":600000},"key":"agents.developer.max_duration_ms"},{"place":{"agents":"developer"},"subject":{"limit":"max_cost_usd"},"value":{"cap":1000000000000},"key":"agents.developer.max_cost_usd"},{"place":{"agents":"developer"},"subject":{"key":"timeout_action"},"value":{"action":"terminate"},"key":"agents.developer.timeout_action"},{"place":{"agents":"qa"},"subject":{"limit":"max_turns"},"value":{"cap":10},"key":"agents.qa.max_turns"},{"place":{"agents":"qa"},"subject":{"limit":"max_duration_ms"},"value":{"cap":120000},"key":"agents.qa.max_duration_ms"},{"place":{"agents":"qa"},"subject":{"limit":"max_cost_usd"},"value":{"cap":500000000000},"key":"agents.qa.max_cost_usd"},{"place":{"agents":"qa"},"subject":{"key":"timeout_action"},"value":{"action":"terminate"},"key":"agents.qa.timeout_action"},{"place":{"agents":"planner"},"subject":{"limit":"max_turns"},"value":{"cap":15},"key":"agents.planner.max_turns"},{"place":{"agents":"planner"},"subject":{"limit":"max_duration_ms"},"value":{"cap":300000},"key":"agents.planner.max_duration_ms"},{"place":{"agents":"planner"},"subject":{"limit":"max_cost_usd"},"value":{"cap":2000000000000},"key":"agents.planner.max_cost_usd"},{"place":{"agents":"planner"},"subject":{"key":"timeout_action"},"value":{"action":"terminate"},"key":"agents.planner.timeout_action"},{"place":{"agents":"architect"},"subject":{"limit":"max_turns"},"value":{"cap":50},"key":"agents.architect.max_turns"},{"place":{"agents":"architect"},"subject":{"limit":"max_duration_ms"},"value":{"cap":1800000},"key":"agents.architect.max_duration_ms"},{"place":{"agents":"architect"},"subject":{"limit":"max_cost_usd"},"value":{"cap":5000000000000},"key":"agents.architect.max_cost_usd"},{"place":{"agents":"architect"},"subject":{"key":"timeout_action"},"value":{"action":"warn"},"key":"agents.architect.timeout_action"},{"place":{"agents":"researcher"},"subject":{"limit":"max_turns"},"value":{"cap":50},"key":"agents.researcher.max_turns"},{"place":{"agents":"researcher"},"subject":{"limit":"max_duration_ms"},"value":{"cap":1200000},"key":"agents.researcher.max_duration_ms"},{"place":{"agents":"researcher"},"subject":{"limit":"max_cost_usd"},"value":{"cap":5000000000000},"key":"agents.researcher.max_cost_usd"},{"place":{"agents":"researcher"},"subject":{"key":"timeout_action"},"value":{"action":"warn"},"key":"agents.researcher.timeout_action"},{"place":{"agents":"security-architect"},"subject":{"limit":"max_turns"},"value":{"cap":30},"key":"agents.security-architect.max_turns"},{"place":{"agents":"security-architect"},"subject":{"limit":"max_duration_ms"},"value":{"cap":900000},"key":"agents.security-architect.max_duration_ms"},{"place":{"agents":"security-architect"},"subject":{"limit":"max_cost_usd"},"value":{"cap":3000000000000},"key":"agents.security-architect.max_cost_usd"},{"place":{"agents":"security-architect"},"subject":{"key":"timeout_action"},"value":{"action":"terminate"},"key":"agents.security-architect.timeout_action"},{"place":{"agents":"code-reviewer"},"subject":{"limit":"max_turns"},"value":{"cap":20},"key":"agents.code-reviewer.max_turns"},{"place":{"agents":"code-reviewer"},"subject":{"limit":"max_duration_ms"},"value":{"cap":600000},"key":"agents.code-reviewer.max_duration_ms"},{"place":{"agents":"code-reviewer"},"subject":{"limit":"max_cost_usd"},"value":{"cap":1500000000000},"key":"agents.code-reviewer.max_cost_usd"},{"place":{"agents":"code-reviewer"},"subject":{"key":"timeout_action"},"value":{"action":"warn"},"key":"agents.code-reviewer.timeout_action"},{"place":{"agents":"devops"},"subject":{"limit":"max_turns"},"value":{"cap":30},"key":"agents.devops.max_turns"},{"place":{"agents":"devops"},"subject":{"limit":"max_duration_ms"},"value":{"cap":900000},"key":"agents.devops.max_duration_ms"},{"place":{"agents":"devops"},"subject":{"limit":"max_cost_usd"},"value":{"cap":2000000000000},"key":"agents.devops.max_cost_usd"},{"place":{"agents":"devops"},"subject":{"key":"timeout_action"},"value":{"action":"terminate"},"key":"agents.devops.timeout_action"},{"place":"declared","subject":{"limit":"max_turns"},"value":{"cap":25},"key":"execution_limits.max_turns"},{"place":"declared","subject":{"limit":"max_duration_ms"},"value":{"cap":600000},"key":"execution_limits.max_duration_ms"},{"place":"declared","subject":{"limit":"max_cost_usd"},"value":{"cap":1000000000000},"key":"execution_limits.max_cost_usd"},{"place":"declared","subject":{"key":"timeout_action"},"value":{"action":"terminate"},"key":"execution_limits.timeout_action"}]},{"layer":"user","path":"/WORLD/home/.claude/fusebox.json","settings":[{"place":"session","subject":{"limit":"max_cost_usd"},"value":{"cap":10000000000000},"key":"session.max_cost_usd"},{"place":"session","subject":{"limit":"max_turns"},"value":{"cap":500},"key":"session.max_turns"},{"place":"top","subject":{"key":"time_zone"},"value":{"text":"Europe/Berlin"},"key":"time_zone"},{"place":"user","subject":{"limit":"max_cost_usd_per_day"},"value":{"cap":5000000000000},"key":"user.max_cost_usd_per_day"},{"place":"user","subject":{"limit":"max_cost_usd_per_month"},"value":{"cap":50000000000000},"key":"user.max_cost_usd_per_month"},{"place":"project","subject":{"limit":"max_cost_usd_per_week"},"value":{"cap":20000000000000},"key":"project.max_cost_usd_per_week"},{"place":"main","subject":{"limit":"max_turns"},"value":{"cap":5},"key":"main.max_turns"},{"place":"main","subject":{"key":"timeout_action"},"value":{"action":"terminate"},"key":"main.timeout_action"},{"place":"main","subject":{"key":"grace_turns"},"value":{"whole":0},"key":"main.grace_turns"},{"place":{"agents":"developer"},"subject":{"limit":"max_turns"},"value":{"cap":2},"key":"agents.developer.max_turns"},{"place":{"agents":"developer"},"subject":{"key":"timeout_action"},"value":{"action":"terminate"},"key":"agents.developer.timeout_action"},{"place":{"agents":"developer"},"subject":{"key":"grace_turns"},"value":{"whole":0},"key":"agents.developer.grace_turns"}]}],"frontmatter":{},"trust":"untrusted","has_policy_file":false,"zone":"Etc/UTC"}');
INSERT INTO limit_set VALUES (1, '{"limits":[{"limit":"max_turns","cap":500,"action":"terminate","layer":"user","increase":250},{"limit":"max_cost_usd","cap":10000000000000,"action":"request_increase","layer":"user","increase":5000000000000}]}');
INSERT INTO limit_set VALUES (2, '{"limits":[{"limit":"max_cost_usd_per_day","cap":5000000000000,"action":"terminate","layer":"user","increase":2500000000000},{"limit":"max_cost_usd_per_month","cap":50000000000000,"action":"terminate","layer":"user","increase":25000000000000}]}');
INSERT INTO limit_set VALUES (3, '{"limits":[{"limit":"max_cost_usd_per_week","cap":20000000000000,"action":"terminate","layer":"user","increase":10000000000000}]}');
INSERT INTO limit_set VALUES (4, '{"limits":[{"limit":"max_turns","cap":5,"action":"terminate","layer":"user","increase":3},{"limit":"loop_detection","cap":1,"action":"terminate","layer":"built-in","increase":1},{"limit":"max_denials","cap":5,"action":"terminate","layer":"built-in","increase":3}],"grace_turns":0}');
INSERT INTO limit_set VALUES (5, '{"limits":[{"limit":"max_turns","cap":2,"action":"terminate","layer":"user","increase":1},{"limit":"max_duration_ms","cap":600000,"action":"terminate","layer":"built-in","increase":300000},{"limit":"max_cost_usd","cap":1000000000000,"action":"terminate","layer":"built-in","increase":500000000000},{"limit":"loop_detection","cap":1,"action":"terminate","layer":"built-in","increase":1},{"limit":"max_denials","cap":5,"action":"terminate","layer":"built-in","increase":3}],"grace_turns":0}');
INSERT INTO budget VALUES ('project', '/WORLD/project', 0, 11680000000, 0, '{"periods":[{"from_ms":0,"to_ms":0,"resets":""},{"from_ms":1794783600000,"to_ms":1795388400000,"resets":"2026-11-23 00:00 +01:00","spent":{"claude-opus-5-5":{"requests":2,"tokens":2060,"cache_read_tokens":4000,"cost_pico_usd":11680000000}}},{"from_ms":0,"to_ms":0,"resets":""}],"reservations":[{"holder":"p-s1","spend":{"requests":1,"tokens":1030,"cache_read_tokens":2000,"cost_pico_usd":5840000000},"at":{"wall_ms":1795168812000,"mono_ms":44928012000,"boot":1},"model":"claude-opus-5-5"},{"holder":"t3","spend":{"requests":1,"tokens":1030,"cache_read_tokens":2000,"cost_pico_usd":5840000000},"at":{"wall_ms":1795168813000,"mono_ms":44928013000,"boot":1},"model":"claude-opus-5-5","first":{"requests":1,"tokens":13000,"cost_pico_usd":72500000000}},{"holder":"p-s2","spend":{"requests":1,"tokens":1030,"cache_read_tokens":2000,"cost_pico_usd":5840000000},"at":{"wall_ms":1795168822000,"mono_ms":44928022000,"boot":1}}]}');
INSERT INTO budget VALUES ('user', '', 11680000000, 0, 11680000000, '{"periods":[{"from_ms":1795129200000,"to_ms":1795215600000,"resets":"2026-11-21 00:00 +01:00","spent":{"claude-opus-5-5":{"requests":2,"tokens":2060,"cache_read_tokens":4000,"cost_pico_usd":11680000000}}},{"from_ms":0,"to_ms":0,"resets":""},{"from_ms":1793487600000,"to_ms":1796079600000,"resets":"2026-12-01 00:00 +01:00","spent":{"claude-opus-5-5":{"requests":2,"tokens":2060,"cache_read_tokens":4000,"cost_pico_usd":11680000000}}}],"reservations":[{"holder":"p-s1","spend":{"requests":1,"tokens":1030,"cache_read_tokens":2000,"cost_pico_usd":5840000000},"at":{"wall_ms":1795168812000,"mono_ms":44928012000,"boot":1},"model":"claude-opus-5-5"},{"holder":"t3","spend":{"requests":1,"tokens":1030,"cache_read_tokens":2000,"cost_pico_usd":5840000000},"at":{"wall_ms":1795168813000,"mono_ms":44928013000,"boot":1},"model":"claude-opus-5-5","first":{"requests":1,"tokens":13000,"cost_pico_usd":72500000000}},{"holder":"p-s2","spend":{"requests":1,"tokens":1030,"cache_read_tokens":2000,"cost_pico_usd":5840000000},"at":{"wall_ms":1795168822000,"mono_ms":44928022000,"boot":1}}]}');
INSERT INTO day_sum VALUES ('2026-11-20', '/WORLD/project', 'claude-opus-5-5', 1, 1030, 2000, 5840000000);
INSERT INTO metadata VALUES ('closed', '1787392804000');
INSERT INTO metadata VALUES ('latest:/WORLD/project', '682e34bd4e54adaf');
INSERT INTO metadata VALUES ('pruned', '1795168804000');
INSERT INTO metadata VALUES ('pruning', '[1795168805000,1785405601000]');
INSERT INTO metadata VALUES ('settings:/WORLD/project', '');
INSERT INTO metadata VALUES ('zone', 'Europe/Berlin');
PRAGMA user_version=100;

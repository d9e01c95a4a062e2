-- A member who keeps a transaction open hinders nobody's settlement, and makes nobody's sync fail.

SET LOCAL ROLE fusebox_owner;
SET LOCAL search_path = fusebox, pg_temp;

-- Beside the parts of machines each member has one: nobody else adds to it, and so nobody else can hold it.
ALTER TABLE used ALTER COLUMN part TYPE integer;
ALTER TABLE project_used ALTER COLUMN part TYPE integer;
ALTER TABLE member ADD COLUMN part integer GENERATED ALWAYS AS IDENTITY (START WITH 100);

CREATE FUNCTION own_part(t team) RETURNS integer LANGUAGE sql STABLE SET search_path = fusebox, pg_temp AS $$
    SELECT m.part FROM member m WHERE m.team = t.id AND m.login = session_user
$$;

-- Returns the members in whose transactions what a request waits for is locked, and which wait for nothing themselves. Leases lock
-- the sums of the team, settlements change them, and who begins an epoch changes the team.
CREATE FUNCTION holders(t team, asks text) RETURNS text LANGUAGE sql STABLE SET search_path = fusebox, pg_catalog, pg_temp AS $$
    SELECT string_agg(DISTINCT a.usename::text, ', ' ORDER BY a.usename::text) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'relation' AND l.granted AND l.pid <> pg_backend_pid()
        AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
        AND (l.relation = 'team'::regclass AND l.mode = 'RowExclusiveLock' OR CASE asks
            WHEN 'lease' THEN l.relation = 'used'::regclass AND l.mode = 'RowShareLock'
            ELSE l.relation = 'charge'::regclass AND l.mode = 'RowExclusiveLock' END)
        AND NOT EXISTS (SELECT FROM pg_locks w WHERE w.pid = l.pid AND NOT w.granted)
        AND EXISTS (SELECT FROM member m WHERE m.team = t.id AND m.login = a.usename)
$$;

-- A lease of the team may be held for longer than this by nobody but who keeps a transaction open.
ALTER FUNCTION lease(text, text, bigint, bigint) SET lock_timeout = '2s';
ALTER FUNCTION renew(text, text, bigint) SET lock_timeout = '500ms';

-- The same as before, with the part of the sums that it adds to.
CREATE FUNCTION charge_all(t team, machine_id text, lease_number bigint, of_day date, charges jsonb, to_part integer) RETURNS bigint
LANGUAGE sql SET search_path = fusebox, pg_temp AS $$
    WITH told AS (
        SELECT r.message, max(r.cost_pico_usd) AS cost, max(coalesce(r.project, '')) AS project, max(coalesce(r.model, '')) AS model
        FROM jsonb_to_recordset(charges) AS r(message text, cost_pico_usd bigint, project text, model text) GROUP BY r.message
    ), written AS (
        INSERT INTO charge AS c (team, message, login, machine, number, project, model, day, cost_pico_usd)
            SELECT t.id, told.message, session_user, machine_id, lease_number, told.project, told.model, of_day, told.cost
            FROM told ORDER BY told.message
            ON CONFLICT (team, message) DO UPDATE SET before_pico_usd = c.cost_pico_usd, cost_pico_usd = excluded.cost_pico_usd,
                settled_at = clock_timestamp()
            WHERE excluded.cost_pico_usd > c.cost_pico_usd
            RETURNING c.project, c.cost_pico_usd - c.before_pico_usd AS more
    ), of_projects AS (
        INSERT INTO project_used AS u (team, project, period, since, part, spent_pico_usd)
            SELECT t.id, w.project, p, begins(p, of_day), to_part, sum(w.more)
            FROM written w, unnest(ARRAY['day', 'month', 'week']) p
            WHERE w.project <> '' AND w.more > 0 GROUP BY w.project, p ORDER BY w.project, p
            ON CONFLICT (team, project, period, since, part) DO UPDATE
                SET spent_pico_usd = least(u.spent_pico_usd::numeric + excluded.spent_pico_usd, 9000000000000000000)
    )
    SELECT coalesce(sum(more), 0)::bigint FROM written
$$;

-- A settlement adds to the part of its machine. Where somebody keeps that locked, it adds to the part of its login.
CREATE OR REPLACE FUNCTION settle(team_name text, machine_id text, lease_number bigint, batch bigint, charges jsonb, closes boolean,
    OUT epoch bigint, OUT answer text, OUT sequence bigint, OUT closed boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp SET lock_timeout = '500ms' AS $$
DECLARE
    t team := team_of(team_name);
    known lease;
    of_day date;
    more bigint := 0;
    old_committed bigint;
    new_state text;
BEGIN
    t := enter_epoch(t);
    epoch := t.epoch;
    answer := 'settled';
    PERFORM touch_machine(t, machine_id);
    -- Locked in this order everywhere: the machine, its lease, the responses, then the sums.
    SELECT * INTO known FROM lease l
        WHERE l.team = t.id AND l.machine = machine_id AND l.number = lease_number FOR UPDATE;
    IF known.team IS NULL THEN
        -- What the server has forgotten, and what was spent without a lease, has nothing reserved.
        INSERT INTO lease (team, machine, number, login, state, amount_pico_usd, day, reserved_at, expires_at)
            VALUES (t.id, machine_id, lease_number, session_user, CASE lease_number WHEN 0 THEN 'open' ELSE 'closed' END,
                0, today(t), clock_timestamp(), clock_timestamp()) RETURNING * INTO known;
    END IF;
    of_day := CASE lease_number WHEN 0 THEN today(t) ELSE known.day END;
    IF batch = known.sequence + 1 THEN
        old_committed := CASE known.state WHEN 'open' THEN greatest(known.amount_pico_usd, known.spent_pico_usd)
            ELSE known.spent_pico_usd END;
        new_state := CASE WHEN closes AND known.state = 'open' AND lease_number > 0 THEN 'closed' ELSE known.state END;
        FOR attempt IN 1..2 LOOP
            DECLARE to_part integer := CASE attempt WHEN 1 THEN part_of(machine_id) ELSE own_part(t) END;
            BEGIN
                more := charge_all(t, machine_id, lease_number, of_day, charges, to_part);
                PERFORM add_used(t, session_user, of_day, to_part, more,
                    CASE new_state WHEN 'open' THEN greatest(known.amount_pico_usd, known.spent_pico_usd + more)
                        ELSE known.spent_pico_usd + more END - old_committed,
                    CASE WHEN new_state = known.state THEN 0 ELSE -1 END);
                EXIT;
            EXCEPTION WHEN lock_not_available THEN
                -- It is the response itself that somebody keeps locked.
                IF attempt = 2 THEN RAISE; END IF;
            END;
        END LOOP;
        UPDATE lease l SET sequence = batch, spent_pico_usd = l.spent_pico_usd + more, state = new_state
            WHERE l.team = t.id AND l.machine = machine_id AND l.number = lease_number;
        known.sequence := batch;
        known.state := new_state;
    END IF;
    sequence := known.sequence;
    closed := known.state <> 'open';
END $$;

DROP FUNCTION charge_all(team, text, bigint, date, jsonb);

CREATE OR REPLACE FUNCTION write_off(team_name text, machine_id text, lease_number bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name, 'admin');
    known lease;
    freed bigint;
BEGIN
    t := enter_epoch(t);
    PERFORM FROM machine m WHERE m.team = t.id AND m.id = machine_id FOR UPDATE;
    SELECT * INTO known FROM lease l
        WHERE l.team = t.id AND l.machine = machine_id AND l.number = lease_number FOR UPDATE;
    IF known.team IS NULL OR lease_number = 0 THEN
        RAISE EXCEPTION 'no lease % of machine %', lease_number, machine_id USING ERRCODE = 'no_data_found';
    END IF;
    -- An old epoch may have renewed it, and be forgotten.
    IF known.state <> 'open' OR clock_timestamp() < greatest(known.expires_at, t.grants_from) THEN
        RAISE EXCEPTION 'lease % of machine % is %, and can be written off once it has expired', lease_number, machine_id,
            known.state USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    freed := greatest(known.amount_pico_usd - known.spent_pico_usd, 0);
    UPDATE lease l SET state = 'written_off' WHERE l.team = t.id AND l.machine = machine_id AND l.number = lease_number;
    PERFORM add_used(t, known.login, known.day, own_part(t), 0, -freed, -1);
    INSERT INTO audit (team, what, subject, before, after) VALUES (t.id, 'write_off',
        concat_ws(' ', known.login, machine_id, lease_number), known.amount_pico_usd::text, known.spent_pico_usd::text);
    RETURN freed;
END $$;

-- Answers the requests of one sync as before. One that waits for what somebody keeps locked is answered `busy`, and undone; the
-- others are answered all the same.
CREATE OR REPLACE FUNCTION sync(team_name text, machine_id text, requests jsonb, labels jsonb,
    OUT replies jsonb, OUT held_pico_usd bigint, OUT held_ms bigint, OUT caps jsonb, OUT projects jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name);
    r record;
    reply jsonb;
    settlements integer := 0;
    has_leased boolean := false;
BEGIN
    replies := '[]';
    IF jsonb_array_length(requests) > 1000 THEN
        RAISE EXCEPTION 'a sync has 1000 requests at most' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    FOR r IN SELECT * FROM jsonb_to_recordset(requests)
        AS q(asks text, number bigint, want bigint, batch bigint, charges jsonb, closes boolean)
    LOOP
        IF has_leased THEN
            RAISE EXCEPTION 'a lease is asked for last' USING ERRCODE = 'invalid_parameter_value';
        END IF;
        settlements := settlements + (r.asks = 'settle')::integer;
        IF settlements > 1 THEN
            RAISE EXCEPTION 'a sync settles one batch' USING ERRCODE = 'invalid_parameter_value';
        END IF;
        has_leased := r.asks = 'lease';
        BEGIN
            IF r.asks = 'settle' THEN
                SELECT to_jsonb(x) INTO reply FROM settle(team_name, machine_id, r.number, r.batch, r.charges, r.closes) x;
            ELSIF r.asks = 'renew' THEN
                -- The amount as well: a failover may have reserved another than what the machine was told of.
                SELECT to_jsonb(x) || jsonb_build_object('amount_pico_usd', (SELECT l.amount_pico_usd FROM lease l
                        WHERE l.team = t.id AND l.machine = machine_id AND l.number = r.number))
                    INTO reply FROM renew(team_name, machine_id, r.number) x;
            ELSIF r.asks = 'lease' THEN
                SELECT to_jsonb(x) INTO reply FROM lease(team_name, machine_id, r.number, r.want) x;
            ELSE
                RAISE EXCEPTION 'a machine asks for no %', r.asks USING ERRCODE = 'invalid_parameter_value';
            END IF;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            reply := jsonb_build_object('epoch', t.epoch, 'answer', 'busy', 'held_by', coalesce(holders(t, r.asks), ''));
        END;
        replies := replies || reply;
    END LOOP;
    -- What one lease was overdrawn by is not left of the others.
    SELECT greatest(coalesce(sum(l.amount_pico_usd - l.spent_pico_usd), 0), 0)::bigint, greatest(floor(extract(epoch FROM
            min(l.expires_at) FILTER (WHERE l.amount_pico_usd > l.spent_pico_usd) - clock_timestamp()) * 1000), 0)::bigint
        INTO held_pico_usd, held_ms FROM lease l
        WHERE l.team = t.id AND l.machine = machine_id AND l.login = session_user AND l.number > 0 AND l.state = 'open'
            AND l.confirmed_at IS NOT NULL;
    SELECT coalesce(jsonb_agg(to_jsonb(s) || jsonb_build_object('resets', resets(t, s.resets_at))), '[]') INTO caps
        FROM status(team_name) s;
    SELECT coalesce(jsonb_agg(to_jsonb(p) || jsonb_build_object('resets', resets(t, p.resets_at))), '[]') INTO projects
        FROM projects(team_name, labels) p;
END $$;

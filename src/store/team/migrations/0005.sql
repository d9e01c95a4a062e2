-- Sums that many machines add to at once, and a whole sync in one request.

SET LOCAL ROLE fusebox_owner;
SET LOCAL search_path = fusebox, pg_temp;

-- A sum is that of its parts. Leases add to part 0, which they lock for the team. A settlement adds to the part of its machine, and
-- waits for no lease. What a lease does not see of it yet, it would not have seen a moment earlier either.
ALTER TABLE used ADD COLUMN part smallint NOT NULL DEFAULT 0,
    DROP CONSTRAINT used_pkey, ADD PRIMARY KEY (team, login, period, since, part);
ALTER TABLE project_used ADD COLUMN part smallint NOT NULL DEFAULT 0,
    DROP CONSTRAINT project_used_pkey, ADD PRIMARY KEY (team, project, period, since, part);
-- What the response had cost before it was told of last.
ALTER TABLE charge ADD COLUMN before_pico_usd bigint NOT NULL DEFAULT 0;

CREATE FUNCTION part_of(machine_id text) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
    SELECT (1 + (pg_catalog.hashtext(machine_id) & 15))::smallint
$$;

-- Without a path of its own it becomes a part of the statement that calls it.
CREATE OR REPLACE FUNCTION begins(period text, day date) RETURNS date LANGUAGE sql IMMUTABLE AS $$
    SELECT pg_catalog.date_trunc(period, day::timestamp)::date
$$;

-- Returns what is spent and leased in one period; an empty login is the team. What one member settles without having spent it
-- stops the team at its caps, and not with an error: no part grows beyond a number that has room for more, and no sum.
CREATE FUNCTION sums(of_team integer, who name, of_period text, of_day date)
RETURNS TABLE (spent bigint, committed bigint, leases bigint) LANGUAGE sql STABLE AS $$
    SELECT least(coalesce(sum(u.spent_pico_usd), 0), 9000000000000000000)::bigint,
        least(coalesce(sum(u.committed_pico_usd), 0), 9000000000000000000)::bigint, coalesce(sum(u.open_leases), 0)::bigint
    FROM fusebox.used u WHERE u.team = of_team AND u.login = who AND u.period = of_period
        AND u.since = fusebox.begins(of_period, of_day)
$$;

-- Returns what is spent of a project in one period.
CREATE FUNCTION project_sum(of_team integer, label text, of_period text, of_day date) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT least(coalesce(sum(u.spent_pico_usd), 0), 9000000000000000000)::bigint FROM fusebox.project_used u
        WHERE u.team = of_team AND u.project = label AND u.period = of_period AND u.since = fusebox.begins(of_period, of_day)
$$;

-- Notes that a machine was heard. Its requests come one after the other from here on, until the transaction ends. One that goes by
-- the sums of an earlier moment would lease what is leased already.
CREATE OR REPLACE FUNCTION touch_machine(t team, machine_id text) RETURNS void
LANGUAGE plpgsql SET search_path = fusebox, pg_temp AS $$
DECLARE owner name;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'a machine asks in a transaction that is read committed' USING ERRCODE = 'invalid_transaction_state';
    END IF;
    INSERT INTO machine AS m (team, id, login) VALUES (t.id, machine_id, session_user)
        ON CONFLICT (team, id) DO UPDATE SET seen_at = clock_timestamp() RETURNING m.login INTO owner;
    IF owner <> session_user THEN
        RAISE EXCEPTION 'machine % is not of %', machine_id, session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
END $$;

-- Has the leases of a team come one after the other, until the transaction ends.
CREATE FUNCTION lock_leases(t team, of_day date) RETURNS void LANGUAGE plpgsql SET search_path = fusebox, pg_temp AS $$
BEGIN
    INSERT INTO used (team, login, period, since) SELECT t.id, '', p, begins(p, of_day) FROM unnest(ARRAY['day', 'month', 'week']) p
        ON CONFLICT DO NOTHING;
    PERFORM FROM unnest(ARRAY['day', 'month', 'week']) p
        JOIN used u ON u.team = t.id AND u.login = '' AND u.period = p AND u.since = begins(p, of_day) AND u.part = 0
        ORDER BY u.period FOR UPDATE OF u;
END $$;

CREATE FUNCTION add_used(t team, who name, of_day date, to_part integer, spent bigint, committed bigint, leases integer) RETURNS void
LANGUAGE sql SET search_path = fusebox, pg_temp AS $$
    INSERT INTO used AS u (team, login, period, since, part, spent_pico_usd, committed_pico_usd, open_leases)
        SELECT t.id, l, p, begins(p, of_day), to_part, spent, committed, leases
        FROM unnest(ARRAY['day', 'month', 'week']) p, unnest(ARRAY['', who]) l ORDER BY l, p
        ON CONFLICT (team, login, period, since, part) DO UPDATE
            SET spent_pico_usd = least(u.spent_pico_usd::numeric + excluded.spent_pico_usd, 9000000000000000000),
            committed_pico_usd = least(u.committed_pico_usd::numeric + excluded.committed_pico_usd, 9000000000000000000),
            open_leases = u.open_leases + excluded.open_leases
$$;

CREATE OR REPLACE FUNCTION rest_of(t team, who name, of_day date) RETURNS bigint
LANGUAGE sql SET search_path = fusebox, pg_temp AS $$
    SELECT min(greatest(c.amount - u.committed, 0)) FROM caps_of(t, who, of_day) c
    CROSS JOIN LATERAL sums(t.id, CASE c.scope WHEN 'team' THEN '' ELSE who END, c.period, of_day) u
$$;

CREATE OR REPLACE FUNCTION lease(team_name text, machine_id text, lease_number bigint, want bigint,
    OUT epoch bigint, OUT answer text, OUT amount_pico_usd bigint, OUT wait_ms bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name);
    known lease;
    of_day date;
    sharers bigint;
    rest bigint;
BEGIN
    IF lease_number < 1 OR want < 1 THEN
        RAISE EXCEPTION 'a lease has a number and an amount above 0' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    t := enter_epoch(t);
    epoch := t.epoch;
    PERFORM touch_machine(t, machine_id);
    SELECT * INTO known FROM lease l WHERE l.team = t.id AND l.machine = machine_id AND l.number = lease_number;
    IF known.team IS NOT NULL THEN
        answer := CASE known.state WHEN 'open' THEN 'reserved' ELSE 'over' END;
        amount_pico_usd := known.amount_pico_usd;
        RETURN;
    END IF;
    UPDATE machine m SET last_number = lease_number
        WHERE m.team = t.id AND m.id = machine_id AND m.last_number < lease_number;
    IF NOT FOUND THEN
        answer := 'over';
        RETURN;
    END IF;
    answer := 'refused';
    IF clock_timestamp() < t.grants_from THEN
        wait_ms := 1 + extract(epoch FROM t.grants_from - clock_timestamp()) * 1000;
        RETURN;
    END IF;
    of_day := today(t);
    -- Where nothing is left, nobody waits to hear it.
    IF rest_of(t, session_user, of_day) = 0 THEN
        RETURN;
    END IF;
    PERFORM lock_leases(t, of_day);
    rest := rest_of(t, session_user, of_day);
    SELECT u.leases INTO sharers FROM sums(t.id, '', 'day', of_day) u;
    amount_pico_usd := CASE WHEN rest IS NULL THEN want
        ELSE least(want, rest, greatest(rest / (4 * (sharers + 1)), t.least_slice_pico_usd)) END;
    IF amount_pico_usd <= 0 THEN
        amount_pico_usd := NULL;
        RETURN;
    END IF;
    INSERT INTO lease (team, machine, number, login, state, amount_pico_usd, day, reserved_at, expires_at)
        VALUES (t.id, machine_id, lease_number, session_user, 'open', amount_pico_usd, of_day, clock_timestamp(),
            least(clock_timestamp() + t.lease_ms * interval '1 ms', end_of(t, of_day)));
    PERFORM add_used(t, session_user, of_day, 0, 0, amount_pico_usd, 1);
    answer := 'reserved';
END $$;

CREATE OR REPLACE FUNCTION settle(team_name text, machine_id text, lease_number bigint, batch bigint, charges jsonb, closes boolean,
    OUT epoch bigint, OUT answer text, OUT sequence bigint, OUT closed boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
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
        more := charge_all(t, machine_id, lease_number, of_day, charges);
        old_committed := CASE known.state WHEN 'open' THEN greatest(known.amount_pico_usd, known.spent_pico_usd)
            ELSE known.spent_pico_usd END;
        new_state := CASE WHEN closes AND known.state = 'open' AND lease_number > 0 THEN 'closed' ELSE known.state END;
        UPDATE lease l SET sequence = batch, spent_pico_usd = l.spent_pico_usd + more, state = new_state
            WHERE l.team = t.id AND l.machine = machine_id AND l.number = lease_number;
        PERFORM add_used(t, session_user, of_day, part_of(machine_id), more,
            CASE new_state WHEN 'open' THEN greatest(known.amount_pico_usd, known.spent_pico_usd + more)
                ELSE known.spent_pico_usd + more END - old_committed,
            CASE WHEN new_state = known.state THEN 0 ELSE -1 END);
        known.sequence := batch;
        known.state := new_state;
    END IF;
    sequence := known.sequence;
    closed := known.state <> 'open';
END $$;

-- Writes the charges of a batch, sums them for their projects, and returns by how much they have grown. The row of a response says
-- what it had cost before: so that two machines that tell it at once charge it once, and wait for nobody else.
CREATE OR REPLACE FUNCTION charge_all(t team, machine_id text, lease_number bigint, of_day date, charges jsonb) RETURNS bigint
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
            SELECT t.id, w.project, p, begins(p, of_day), part_of(machine_id), sum(w.more)
            FROM written w, unnest(ARRAY['day', 'month', 'week']) p
            WHERE w.project <> '' AND w.more > 0 GROUP BY w.project, p ORDER BY w.project, p
            ON CONFLICT (team, project, period, since, part) DO UPDATE
                SET spent_pico_usd = least(u.spent_pico_usd::numeric + excluded.spent_pico_usd, 9000000000000000000)
    )
    SELECT coalesce(sum(more), 0)::bigint FROM written
$$;

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
    PERFORM add_used(t, known.login, known.day, part_of(machine_id), 0, -freed, -1);
    INSERT INTO audit (team, what, subject, before, after) VALUES (t.id, 'write_off',
        concat_ws(' ', known.login, machine_id, lease_number), known.amount_pico_usd::text, known.spent_pico_usd::text);
    RETURN freed;
END $$;

DROP FUNCTION lock_used(team, name, date);
DROP FUNCTION add_used(team, name, date, bigint, bigint, integer);

CREATE OR REPLACE FUNCTION status(team_name text) RETURNS TABLE (scope text, period text, since date, resets_at timestamptz,
    cap_pico_usd bigint, spent_pico_usd bigint, committed_pico_usd bigint, contact text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name);
    of_day date := today(t);
BEGIN
    RETURN QUERY SELECT c.scope, c.period, begins(c.period, of_day),
        end_of(t, (begins(c.period, of_day) + ('1 ' || c.period)::interval)::date - 1),
        c.amount, u.spent, u.committed, t.contact
    FROM caps_of(t, session_user, of_day) c
    CROSS JOIN LATERAL sums(t.id, CASE c.scope WHEN 'team' THEN '' ELSE session_user END, c.period, of_day) u
    ORDER BY c.scope, c.period;
END $$;

CREATE OR REPLACE FUNCTION projects(team_name text, labels jsonb) RETURNS TABLE (project text, period text, resets_at timestamptz,
    cap_pico_usd bigint, spent_pico_usd bigint, contact text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name);
    of_day date := today(t);
BEGIN
    RETURN QUERY SELECT c.label, c.period, end_of(t, (begins(c.period, of_day) + ('1 ' || c.period)::interval)::date - 1),
        c.amount_pico_usd, project_sum(t.id, c.label, c.period, of_day), t.contact
    FROM cap c WHERE c.team = t.id AND c.scope = 'project' AND (labels IS NULL OR labels ? c.label)
    ORDER BY c.label, c.period;
END $$;

CREATE OR REPLACE FUNCTION caps_in_use() RETURNS TABLE (team text, scope text, whose text, period text, since date,
    cap_pico_usd bigint, spent_pico_usd bigint, committed_pico_usd bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
    SELECT c.team, c.scope, c.whose::text, c.period, begins(c.period, c.day), c.amount, u.spent, u.committed FROM (
        SELECT DISTINCT t.id, t.name AS team, k.scope, CASE k.scope WHEN 'team' THEN '' ELSE m.login END AS whose, k.period,
            k.amount, today(t) AS day
        FROM team t JOIN member m ON m.team = t.id CROSS JOIN LATERAL caps_of(t, m.login, today(t)) k
        WHERE is_in(t.id, 'admin') OR is_in(t.id) AND m.login = session_user
    ) c CROSS JOIN LATERAL sums(c.id, c.whose, c.period, c.day) u
    UNION ALL
    SELECT t.name, c.scope, c.label, c.period, begins(c.period, today(t)), c.amount_pico_usd, p.spent, p.spent
    FROM team t JOIN cap c ON c.team = t.id AND c.scope = 'project'
    CROSS JOIN LATERAL (SELECT project_sum(t.id, c.label, c.period, today(t)) AS spent) p
    WHERE is_in(t.id)
$$;

-- Answers the requests of one sync, in their order, and says what the machine needs to know besides. One settlement at most: a
-- transaction that locks the responses of two might wait for one that waits for it. A lease is last, and so one at most: whoever
-- holds what leases of the team wait for asks for nothing else.
CREATE FUNCTION sync(team_name text, machine_id text, requests jsonb, labels jsonb,
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
        IF r.asks = 'settle' THEN
            settlements := settlements + 1;
            IF settlements > 1 THEN
                RAISE EXCEPTION 'a sync settles one batch' USING ERRCODE = 'invalid_parameter_value';
            END IF;
            SELECT to_jsonb(x) INTO reply FROM settle(team_name, machine_id, r.number, r.batch, r.charges, r.closes) x;
        ELSIF r.asks = 'renew' THEN
            -- The amount as well: a failover may have reserved another than what the machine was told of.
            SELECT to_jsonb(x) || jsonb_build_object('amount_pico_usd', (SELECT l.amount_pico_usd FROM lease l
                    WHERE l.team = t.id AND l.machine = machine_id AND l.number = r.number))
                INTO reply FROM renew(team_name, machine_id, r.number) x;
        ELSIF r.asks = 'lease' THEN
            has_leased := true;
            SELECT to_jsonb(x) INTO reply FROM lease(team_name, machine_id, r.number, r.want) x;
        ELSE
            RAISE EXCEPTION 'a machine asks for no %', r.asks USING ERRCODE = 'invalid_parameter_value';
        END IF;
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

-- Returns when a cap resets, as people write it: to the minute, in the team's time zone, which it names.
CREATE FUNCTION resets(t team, at timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT to_char(at AT TIME ZONE t.time_zone, 'YYYY-MM-DD HH24:MI ') || t.time_zone
$$;

GRANT EXECUTE ON FUNCTION sync TO fusebox_member;

-- Leases: a machine reserves a slice of what is left, spends it, and settles what it has spent. docs/teams.md has the protocol.

-- Reserves a slice. The same number again reserves nothing. The machine's own leases make its next one no smaller: a slice is shared
-- with those of the other machines. A lease of the team is held for longer than this by nobody but who keeps a transaction open.
CREATE FUNCTION lease(team_name text, machine_id text, lease_number bigint, want bigint,
    OUT epoch bigint, OUT answer text, OUT amount_pico_usd bigint, OUT wait_ms bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp SET lock_timeout = '2s' AS $$
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
    SELECT greatest(u.leases - (SELECT count(*) FROM lease l
            WHERE l.team = t.id AND l.machine = machine_id AND l.number > 0 AND l.state = 'open' AND l.day = of_day), 0)
        INTO sharers FROM sums(t.id, '', 'day', of_day) u;
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

-- Says whether a lease may be spent, and for how long.
CREATE FUNCTION renew(team_name text, machine_id text, lease_number bigint,
    OUT epoch bigint, OUT answer text, OUT lives_ms bigint, OUT wait_ms bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp SET lock_timeout = '500ms' AS $$
DECLARE
    t team := team_of(team_name);
    now timestamptz;
    usable_at timestamptz;
    known lease;
BEGIN
    t := enter_epoch(t);
    epoch := t.epoch;
    PERFORM touch_machine(t, machine_id);
    SELECT * INTO known FROM lease l
        WHERE l.team = t.id AND l.machine = machine_id AND l.number = lease_number FOR UPDATE;
    now := clock_timestamp();
    IF known.team IS NULL OR known.state <> 'open' OR now >= end_of(t, known.day) THEN
        answer := 'over';
        RETURN;
    END IF;
    usable_at := known.reserved_at + t.confirm_ms * interval '1 ms';
    IF known.confirmed_at IS NULL AND now < usable_at THEN
        answer := 'pending';
        wait_ms := 1 + extract(epoch FROM usable_at - now) * 1000;
        RETURN;
    END IF;
    UPDATE lease l SET confirmed_at = coalesce(l.confirmed_at, now),
        expires_at = greatest(l.expires_at, least(now + t.lease_ms * interval '1 ms', end_of(t, l.day)))
        WHERE l.team = t.id AND l.machine = machine_id AND l.number = lease_number RETURNING * INTO known;
    answer := 'usable';
    lives_ms := floor(extract(epoch FROM known.expires_at - now) * 1000);
END $$;

-- Writes the charges of a batch, sums them for their projects, and returns by how much they have grown. The row of a response says
-- what it had cost before: so two machines that tell it at once charge it once, and wait for nobody else. What another machine than
-- the first has told of it is kept apart.
CREATE FUNCTION charge_all(t team, machine_id text, lease_number bigint, of_day date, charges jsonb, to_part integer)
RETURNS bigint LANGUAGE sql SET search_path = fusebox, pg_temp AS $$
    WITH told AS (
        SELECT r.message, max(r.cost_pico_usd) AS cost, max(coalesce(r.project, '')) AS project, max(coalesce(r.model, '')) AS model
        FROM jsonb_to_recordset(charges) AS r(message text, cost_pico_usd bigint, project text, model text) GROUP BY r.message
    ), written AS (
        INSERT INTO charge AS c (team, message, login, machine, number, project, model, day, cost_pico_usd)
            SELECT t.id, told.message, session_user, machine_id, lease_number, told.project, told.model, of_day, told.cost
            FROM told ORDER BY told.message
            ON CONFLICT (team, message) DO UPDATE SET before_pico_usd = c.cost_pico_usd,
                cost_pico_usd = greatest(c.cost_pico_usd, excluded.cost_pico_usd),
                own_pico_usd = CASE WHEN c.machine <> excluded.machine THEN coalesce(c.own_pico_usd, c.cost_pico_usd)
                    WHEN excluded.cost_pico_usd < c.cost_pico_usd THEN excluded.cost_pico_usd END,
                settled_at = clock_timestamp()
            WHERE excluded.cost_pico_usd > c.cost_pico_usd
                OR c.machine = excluded.machine AND excluded.cost_pico_usd > c.own_pico_usd
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

-- Charges a batch: each batch, and each response, once. It adds to the part of its machine. Where somebody keeps that locked, it adds
-- to the part of its login.
CREATE FUNCTION settle(team_name text, machine_id text, lease_number bigint, batch bigint, charges jsonb, closes boolean,
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

CREATE FUNCTION write_off(team_name text, machine_id text, lease_number bigint) RETURNS bigint
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

-- A whole sync in one request. A member who keeps a transaction open hinders nobody's settlement, and makes nobody's sync fail.

-- Returns the members in whose transactions what a request waits for is locked, and which wait for nothing themselves. Leases lock
-- the sums of the team, shares their limit, settlements change the responses, and who begins an epoch changes the team.
CREATE FUNCTION holders(t team, asks text) RETURNS text LANGUAGE sql STABLE SET search_path = fusebox, pg_catalog, pg_temp AS $$
    SELECT string_agg(DISTINCT a.usename::text, ', ' ORDER BY a.usename::text) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'relation' AND l.granted AND l.pid <> pg_backend_pid()
        AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
        AND (l.relation = 'team'::regclass AND l.mode = 'RowExclusiveLock' OR CASE asks
            WHEN 'lease' THEN l.relation = 'used'::regclass AND l.mode = 'RowShareLock'
            WHEN 'share' THEN l.relation = 'shared_limit'::regclass AND l.mode = 'RowShareLock'
            ELSE l.relation = 'charge'::regclass AND l.mode = 'RowExclusiveLock' END)
        AND NOT EXISTS (SELECT FROM pg_locks w WHERE w.pid = l.pid AND NOT w.granted)
        AND EXISTS (SELECT FROM member m WHERE m.team = t.id AND m.login = a.usename)
$$;

-- Notes what the clients of a machine say that they have spent in the sessions of each day. It never shrinks.
CREATE FUNCTION note_totals(t team, machine_id text, totals jsonb) RETURNS void
LANGUAGE sql SET search_path = fusebox, pg_temp SET lock_timeout = '500ms' AS $$
    SELECT touch_machine(t, machine_id);
    INSERT INTO client_total AS k (team, machine, day, login, total_pico_usd)
        SELECT t.id, machine_id, r.day, session_user, max(r.total_pico_usd)
        FROM jsonb_to_recordset(totals) AS r(day date, total_pico_usd bigint)
        WHERE r.day BETWEEN today(t) - 40 AND today(t) + 1 AND NOT EXISTS (SELECT FROM client_total o
            WHERE o.team = t.id AND o.machine = machine_id AND o.day = r.day AND o.total_pico_usd >= r.total_pico_usd)
        GROUP BY r.day
        ON CONFLICT (team, machine, day) DO UPDATE
            SET total_pico_usd = greatest(k.total_pico_usd, excluded.total_pico_usd), told_at = clock_timestamp();
$$;

-- Answers the requests of one sync, in their order, and says what the machine needs to know besides. One settlement at most: a
-- transaction that locks the responses of two might wait for one that waits for it. A lease is last, and so one at most: whoever
-- holds what leases of the team wait for asks for nothing else. A request that waits for what somebody keeps locked is answered `busy`,
-- and undone; the others are answered all the same. Totals of clients that cannot be noted now the next sync tells again.
CREATE FUNCTION sync(team_name text, machine_id text, requests jsonb, labels jsonb, totals jsonb,
    OUT replies jsonb, OUT held_pico_usd bigint, OUT held_ms bigint, OUT caps jsonb, OUT projects jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name);
    r record;
    reply jsonb;
    settlements integer := 0;
    has_leased boolean := false;
BEGIN
    IF jsonb_array_length(requests) > 1000 THEN
        RAISE EXCEPTION 'a sync has 1000 requests at most' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF jsonb_array_length(totals) > 100 THEN
        RAISE EXCEPTION 'a sync has the totals of 100 days at most' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF jsonb_array_length(totals) > 0 THEN
        BEGIN
            PERFORM note_totals(t, machine_id, totals);
        EXCEPTION WHEN lock_not_available THEN
            NULL;
        END;
    END IF;
    replies := '[]';
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

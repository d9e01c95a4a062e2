-- What else shows what machines have spent: the totals of their clients, and what other machines tell of the same responses.

SET LOCAL ROLE fusebox_owner;
SET LOCAL search_path = fusebox, pg_temp;

CREATE TABLE client_total (
    team integer NOT NULL REFERENCES team,
    machine text NOT NULL,
    -- When the sessions began, in UTC by the machine's clock.
    day date NOT NULL,
    login name NOT NULL,
    total_pico_usd bigint NOT NULL CHECK (total_pico_usd BETWEEN 0 AND 1000000000000000000),
    told_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (team, machine, day)
);
-- What the machine that told it first has told itself, where another has told more; NULL where none has.
ALTER TABLE charge ADD COLUMN own_pico_usd bigint;

-- The same as before, and keeps apart what another machine than the first has told.
CREATE OR REPLACE FUNCTION charge_all(t team, machine_id text, lease_number bigint, of_day date, charges jsonb, to_part integer)
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

-- A sync that also tells the totals of its clients: where those cannot be noted now, the next tells them again.
CREATE FUNCTION sync(team_name text, machine_id text, requests jsonb, labels jsonb, totals jsonb,
    OUT replies jsonb, OUT held_pico_usd bigint, OUT held_ms bigint, OUT caps jsonb, OUT projects jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
BEGIN
    IF jsonb_array_length(totals) > 100 THEN
        RAISE EXCEPTION 'a sync has the totals of 100 days at most' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF jsonb_array_length(totals) > 0 THEN
        BEGIN
            PERFORM note_totals(team_of(team_name), machine_id, totals);
        EXCEPTION WHEN lock_not_available THEN
            NULL;
        END;
    END IF;
    SELECT s.* INTO replies, held_pico_usd, held_ms, caps, projects FROM sync(team_name, machine_id, requests, labels) s;
END $$;

-- Compares, for each login, what its machines have settled in so many days with what else shows what they spent: the totals of their
-- clients in sessions that began in these days, machine by machine, and what other machines have told of the same responses.
CREATE FUNCTION audit_spend(team_name text, days integer) RETURNS TABLE (login text, settled_pico_usd bigint,
    client_total_pico_usd bigint, client_more_pico_usd bigint, others_more_pico_usd bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name, 'admin');
    from_day date := today(t) - days + 1;
BEGIN
    RETURN QUERY WITH settled AS (
        -- A day more: the days of sessions are in UTC, and these are of the team's time zone.
        SELECT c.login AS who, c.machine, sum(coalesce(c.own_pico_usd, c.cost_pico_usd)) AS cost,
            sum(c.cost_pico_usd - coalesce(c.own_pico_usd, c.cost_pico_usd)) AS others_more
        FROM charge c WHERE c.team = t.id AND c.day >= from_day - 1 GROUP BY c.login, c.machine
    ), clients AS (
        SELECT k.login AS who, k.machine, sum(k.total_pico_usd) AS total
        FROM client_total k WHERE k.team = t.id AND k.day >= from_day GROUP BY k.login, k.machine
    )
    SELECT who::text, least(sum(coalesce(s.cost, 0)), 9000000000000000000)::bigint,
        least(sum(coalesce(k.total, 0)), 9000000000000000000)::bigint,
        least(sum(greatest(coalesce(k.total, 0) - coalesce(s.cost, 0), 0)), 9000000000000000000)::bigint,
        least(sum(coalesce(s.others_more, 0)), 9000000000000000000)::bigint
    FROM settled s FULL JOIN clients k USING (who, machine) GROUP BY who ORDER BY who;
END $$;

ALTER TABLE client_total ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_team ON client_total FOR SELECT USING (is_in(team) AND login = session_user OR is_in(team, 'admin'));
GRANT SELECT ON client_total TO fusebox_member;
GRANT EXECUTE ON FUNCTION sync(text, text, jsonb, jsonb, jsonb), audit_spend TO fusebox_member;

-- What is spent and leased, by period. A sum is that of its parts: so many machines add to it at once.

-- Returns the part of the sums that a machine adds to, of sixteen.
CREATE FUNCTION part_of(machine_id text) RETURNS smallint LANGUAGE sql IMMUTABLE AS $$
    SELECT (1 + (pg_catalog.hashtext(machine_id) & 15))::smallint
$$;

-- Returns the part that is the own one of who asks.
CREATE FUNCTION own_part(t team) RETURNS integer LANGUAGE sql STABLE SET search_path = fusebox, pg_temp AS $$
    SELECT m.part FROM member m WHERE m.team = t.id AND m.login = session_user
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

-- Has the leases of a team come one after the other, until the transaction ends.
CREATE FUNCTION lock_leases(t team, of_day date) RETURNS void LANGUAGE plpgsql SET search_path = fusebox, pg_temp AS $$
BEGIN
    INSERT INTO used (team, login, period, since) SELECT t.id, '', p, begins(p, of_day) FROM unnest(ARRAY['day', 'month', 'week']) p
        ON CONFLICT DO NOTHING;
    PERFORM FROM unnest(ARRAY['day', 'month', 'week']) p
        JOIN used u ON u.team = t.id AND u.login = '' AND u.period = p AND u.since = begins(p, of_day) AND u.part = 0
        ORDER BY u.period FOR UPDATE OF u;
END $$;

-- Adds to what a member, and the team, has used in the periods of a day.
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

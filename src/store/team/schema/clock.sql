-- Days, weeks and months in a team's time zone, and epochs: the server's clock alone counts.

-- The server's timeline: it grows where a replica takes over, or a backup is restored.
CREATE FUNCTION timeline() RETURNS bigint LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint
$$;

-- Returns the day that it is for a team.
CREATE FUNCTION today(t team) RETURNS date LANGUAGE sql SET search_path = fusebox, pg_temp AS $$
    SELECT (clock_timestamp() AT TIME ZONE t.time_zone)::date
$$;

-- Returns when a day ends for a team.
CREATE FUNCTION end_of(t team, day date) RETURNS timestamptz LANGUAGE sql SET search_path = fusebox, pg_temp AS $$
    SELECT (day + 1)::timestamp AT TIME ZONE t.time_zone
$$;

-- Returns the first day of the period that a day is in. Without a path of its own it becomes a part of the statement that calls it.
CREATE FUNCTION begins(period text, day date) RETURNS date LANGUAGE sql IMMUTABLE AS $$
    SELECT pg_catalog.date_trunc(period, day::timestamp)::date
$$;

-- Returns when a cap resets, as people write it: to the minute, in the team's time zone, which it names.
CREATE FUNCTION resets(t team, at timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT to_char(at AT TIME ZONE t.time_zone, 'YYYY-MM-DD HH24:MI ') || t.time_zone
$$;

-- Begins a new epoch where the server has one. Until the leases of the one before have run out it grants nothing, and what was reserved
-- and not confirmed has to be confirmed by the new epoch's replica.
CREATE FUNCTION enter_epoch(INOUT t team) LANGUAGE plpgsql SET search_path = fusebox, pg_temp AS $$
DECLARE last_end timestamptz;
BEGIN
    IF t.epoch = timeline() THEN RETURN; END IF;
    SELECT * INTO t FROM team WHERE id = t.id FOR NO KEY UPDATE;
    IF t.epoch = timeline() THEN RETURN; END IF;
    UPDATE lease SET reserved_at = clock_timestamp() WHERE team = t.id AND state = 'open' AND confirmed_at IS NULL;
    UPDATE share SET grown_at = clock_timestamp() WHERE team = t.id AND usable < amount;
    SELECT max(expires_at) INTO last_end FROM lease WHERE team = t.id AND state = 'open';
    UPDATE team SET epoch = timeline(),
        grants_from = greatest(clock_timestamp() + t.lease_ms * interval '1 ms', last_end)
        WHERE id = t.id RETURNING * INTO t;
    INSERT INTO audit (team, what, subject, after) VALUES (t.id, 'epoch', t.name, t.epoch::text);
END $$;

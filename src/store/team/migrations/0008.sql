-- A machine's own leases make its next one no smaller: a slice is shared with those of the other machines.

SET LOCAL ROLE fusebox_owner;
SET LOCAL search_path = fusebox, pg_temp;

CREATE OR REPLACE FUNCTION lease(team_name text, machine_id text, lease_number bigint, want bigint,
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

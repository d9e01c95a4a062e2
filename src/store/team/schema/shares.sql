-- Limits of a whole team that are no money: subagents at once, and model requests in a window. Each machine reserves a share of them.

-- Returns whether a machine may use nothing of a share any more, and all that it used of it has left the window.
CREATE FUNCTION has_lapsed(s share, at timestamptz) RETURNS boolean LANGUAGE sql STABLE
    RETURN at >= s.expires_at + (coalesce(s.stale_ms, 0) + coalesce(s.per_ms, 0)) * interval '1 ms';

-- Returns what a share counts at a moment. Agents work on without the store, for however long: what was reserved for them counts until
-- their machine is heard, or an admin writes it off. Requests have passed with their window.
CREATE FUNCTION counts(s share, at timestamptz) RETURNS bigint LANGUAGE sql STABLE
    RETURN CASE WHEN s.kind = 'agents' THEN s.amount
        WHEN has_lapsed(s, at) THEN 0
        WHEN at < s.drains_until THEN greatest(s.amount, s.draining)
        ELSE s.amount END;

-- Returns what the other machines' shares count, and how many of them count something.
CREATE FUNCTION beside(own share, at timestamptz, OUT counted bigint, OUT sharers bigint)
LANGUAGE sql STABLE SET search_path = fusebox, pg_temp AS $$
    SELECT coalesce(sum(counts(s, at)), 0)::bigint, count(*) FILTER (WHERE counts(s, at) > 0)
    FROM share s WHERE s.team = own.team AND s.kind = own.kind AND s.machine <> own.machine AND (s.amount > 0 OR s.draining > 0)
$$;

-- Returns a share as it is at a moment. One that counts nothing any more is empty, and grows as a new one does: by its last request, too.
CREATE FUNCTION as_of(s share, at timestamptz) RETURNS share LANGUAGE plpgsql STABLE SET search_path = fusebox, pg_temp AS $$
BEGIN
    IF at >= s.drains_until THEN
        s.draining := 0;
    END IF;
    IF greatest(s.amount, s.draining) > 0 AND counts(s, at) = 0 THEN
        s.amount := 0;
        s.usable := 0;
        s.draining := 0;
        s.number := greatest(s.number - 1, 0);
    END IF;
    RETURN s;
END $$;

-- Returns a share as a request makes it at a moment, at which it was made by `as_of`. One that was taken already changes nothing.
CREATE FUNCTION resized(t team, bound shared_limit, known share, request_number bigint, in_use bigint, wants bigint, most bigint,
    at timestamptz) RETURNS share LANGUAGE plpgsql STABLE SET search_path = fusebox, pg_temp AS $$
DECLARE
    has_been bigint := counts(known, at);
    -- What a machine says that it uses counts in any case, but no more than the limit: it may say anything.
    used bigint := least(in_use, bound.amount);
BEGIN
    IF request_number <= known.number THEN
        RETURN known;
    END IF;
    known.number := request_number;
    IF at >= known.grown_at + t.confirm_ms * interval '1 ms' THEN
        known.usable := known.amount;
    END IF;
    -- Of requests once in a window, or all at once: what has been counts on for a window each time.
    IF wants < known.amount AND (known.kind = 'agents' OR wants = 0 OR at >= known.drains_until) THEN
        known.amount := wants;
        known.draining := CASE known.kind WHEN 'agents' THEN 0 ELSE has_been END;
        known.drains_until := at + coalesce(bound.per_ms, 0) * interval '1 ms';
    ELSIF least(wants, most) > known.amount AND at >= t.grants_from THEN
        known.amount := least(wants, most);
        known.grown_at := at;
    END IF;
    IF known.kind = 'agents' THEN
        known.amount := greatest(known.amount, used);
    ELSIF used > counts(known, at) THEN
        known.draining := used;
        known.drains_until := at + bound.per_ms * interval '1 ms';
    END IF;
    known.usable := least(known.usable, known.amount);
    RETURN known;
END $$;

-- Deletes the shares of machines that have been at rest, or not heard, for so long that no request of theirs can come late.
CREATE FUNCTION forget_shares(of_team integer, of_kind text, at timestamptz) RETURNS void
LANGUAGE sql SET search_path = fusebox, pg_temp AS $$
    DELETE FROM share d USING (SELECT s.machine FROM share s WHERE s.team = of_team AND s.kind = of_kind
            AND s.expires_at < at - interval '2 days' AND counts(s, at) = 0 LIMIT 1000 FOR UPDATE SKIP LOCKED) old
        WHERE d.team = of_team AND d.kind = of_kind AND d.machine = old.machine
$$;

-- Has a machine's share be as much as it wants, as far as there is room. A share shrinks by its machine's word alone, which has used less
-- since before it said so. So it stays as it is where the limit is taken away. What is in use counts, whatever was reserved for it.
CREATE FUNCTION reserve(team_name text, machine_id text, of_kind text, request_number bigint, in_use bigint, needs bigint, wants bigint,
    stale bigint, OUT epoch bigint, OUT kind text, OUT number bigint, OUT cap bigint, OUT per_ms bigint, OUT reserved bigint,
    OUT amount bigint, OUT usable bigint, OUT most bigint, OUT lives_ms bigint, OUT wait_ms bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
    t team := team_of(team_name);
    bound shared_limit;
    known share;
    now timestamptz := clock_timestamp();
    is_heard boolean;
    others record;
BEGIN
    IF num_nulls(request_number, in_use, needs, wants) > 0 OR request_number < 1 OR least(in_use, needs, wants, stale) < 0
        OR greatest(in_use, needs, wants) > 1000000 OR stale > 86400000 THEN
        RAISE EXCEPTION 'a share has a number, amounts up to 1000000, and a day at most without the store'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    t := enter_epoch(t);
    epoch := t.epoch;
    kind := of_kind;
    SELECT * INTO bound FROM shared_limit l WHERE l.team = t.id AND l.kind = of_kind;
    IF bound.team IS NULL THEN
        RETURN;
    END IF;
    SELECT * INTO known FROM share s WHERE s.team = t.id AND s.kind = of_kind AND s.machine = machine_id;
    is_heard := known.team IS NULL OR known.login <> session_user OR request_number > known.number
        OR known.stale_ms IS DISTINCT FROM stale OR now + t.lease_ms / 2 * interval '1 ms' > known.expires_at;
    IF is_heard THEN
        PERFORM touch_machine(t, machine_id);
        IF known.team IS NULL THEN
            PERFORM forget_shares(t.id, of_kind, now);
        END IF;
        INSERT INTO share (team, kind, machine, login) VALUES (t.id, of_kind, machine_id, session_user) ON CONFLICT DO NOTHING;
        SELECT * INTO known FROM share s WHERE s.team = t.id AND s.kind = of_kind AND s.machine = machine_id FOR UPDATE;
        now := clock_timestamp();
        known := as_of(known, now);
        IF request_number > known.number AND wants > known.amount THEN
            -- Who reserves more waits for who does.
            SELECT * INTO bound FROM shared_limit l WHERE l.team = t.id AND l.kind = of_kind FOR NO KEY UPDATE;
            IF bound.team IS NULL THEN
                RETURN;
            END IF;
            now := clock_timestamp();
            known := as_of(known, now);
        END IF;
    END IF;
    SELECT * INTO others FROM beside(known, now);
    -- What the others leave, and beyond what is needed a part of a quarter.
    most := least(greatest(bound.amount - others.counted, 0), greatest(needs, bound.amount / (4 * (others.sharers + 1))));
    IF is_heard THEN
        known.stale_ms := CASE WHEN request_number < known.number THEN known.stale_ms ELSE stale END;
        known := resized(t, bound, known, request_number, in_use, wants, most, now);
        UPDATE share s SET number = known.number, amount = known.amount, usable = known.usable, grown_at = known.grown_at,
            draining = known.draining, drains_until = known.drains_until, per_ms = bound.per_ms, stale_ms = known.stale_ms,
            expires_at = greatest(s.expires_at, now + t.lease_ms * interval '1 ms')
            WHERE s.team = t.id AND s.kind = of_kind AND s.machine = machine_id RETURNING * INTO known;
    END IF;
    number := known.number;
    cap := bound.amount;
    per_ms := bound.per_ms;
    reserved := others.counted + counts(known, now);
    amount := known.amount;
    wait_ms := greatest(ceil(extract(epoch FROM known.grown_at + t.confirm_ms * interval '1 ms' - now) * 1000), 0);
    usable := CASE wait_ms WHEN 0 THEN known.amount ELSE known.usable END;
    wait_ms := CASE WHEN usable < amount THEN wait_ms ELSE 0 END;
    lives_ms := greatest(floor(extract(epoch FROM known.expires_at - now) * 1000), 0);
END $$;

-- Answers what a machine asks of one limit in a sync; where it asks nothing, says which limit there is, and NULL for none. It is a
-- transaction of its own, whose end lets the next machine grow: `sync` may wait for a lease, or for another limit.
CREATE FUNCTION sync_share(team_name text, machine_id text, of_kind text, request jsonb) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name);
    reply jsonb;
BEGIN
    IF request IS NULL THEN
        SELECT jsonb_build_object('kind', l.kind, 'epoch', t.epoch, 'cap', l.amount, 'per_ms', l.per_ms) INTO reply
            FROM shared_limit l WHERE l.team = t.id AND l.kind = of_kind;
    ELSE
        SELECT to_jsonb(x) INTO reply
            FROM jsonb_to_record(request) AS q(number bigint, in_use bigint, needs bigint, wants bigint, stale_ms bigint),
                reserve(team_name, machine_id, of_kind, q.number, q.in_use, q.needs, q.wants, q.stale_ms) x;
    END IF;
    RETURN reply || jsonb_build_object('contact', t.contact);
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
    RETURN jsonb_build_object('kind', of_kind, 'epoch', t.epoch, 'held_by', coalesce(holders(t, 'share'), ''), 'contact', t.contact);
END $$;

-- Sets how many agents may be at work at once in the whole team, or how many requests fit into a window; NULL takes the limit away.
-- What machines have reserved stays reserved until each has heard of it.
CREATE FUNCTION set_shared_limit(team_name text, of_kind text, new_amount bigint, new_per_ms bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name, 'admin');
    old_limit text;
BEGIN
    PERFORM FROM team WHERE id = t.id FOR NO KEY UPDATE;
    SELECT concat_ws('/', l.amount, l.per_ms) INTO old_limit FROM shared_limit l WHERE l.team = t.id AND l.kind = of_kind FOR UPDATE;
    IF new_amount IS NULL THEN
        DELETE FROM shared_limit l WHERE l.team = t.id AND l.kind = of_kind;
    ELSE
        INSERT INTO shared_limit AS l (team, kind, amount, per_ms) VALUES (t.id, of_kind, new_amount, new_per_ms)
            ON CONFLICT (team, kind) DO UPDATE SET amount = excluded.amount, per_ms = excluded.per_ms;
    END IF;
    INSERT INTO audit (team, what, subject, before, after)
        VALUES (t.id, 'shared_limit', of_kind, old_limit, CASE WHEN new_amount IS NOT NULL THEN concat_ws('/', new_amount, new_per_ms) END);
END $$;

-- Gives up what a lost machine has reserved, or one whose login is out of the team. Of its agents that are at work all the same each
-- counts again once it is heard.
CREATE FUNCTION write_off_share(team_name text, machine_id text, of_kind text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name, 'admin');
    known share;
    counted bigint;
BEGIN
    t := enter_epoch(t);
    PERFORM FROM machine m WHERE m.team = t.id AND m.id = machine_id FOR UPDATE;
    SELECT * INTO known FROM share s WHERE s.team = t.id AND s.kind = of_kind AND s.machine = machine_id FOR UPDATE;
    IF known.team IS NULL THEN
        RAISE EXCEPTION 'machine % has reserved no %', machine_id, of_kind USING ERRCODE = 'no_data_found';
    END IF;
    counted := counts(known, clock_timestamp());
    -- An old epoch may have renewed it, and be forgotten. Whose login is out of the team renews nothing.
    IF EXISTS (SELECT FROM member m WHERE m.team = t.id AND m.login = known.login)
        AND NOT (has_lapsed(known, clock_timestamp()) AND clock_timestamp() >= t.grants_from) THEN
        RAISE EXCEPTION 'the % of machine % can be written off once they have expired', of_kind, machine_id
            USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    UPDATE share s SET amount = 0, usable = 0, draining = 0 WHERE s.team = t.id AND s.kind = of_kind AND s.machine = machine_id;
    INSERT INTO audit (team, what, subject, before, after)
        VALUES (t.id, 'write_off', concat_ws(' ', known.login, machine_id, of_kind), counted::text, '0');
    RETURN counted;
END $$;

-- The shared ledger of a team: docs/teams.md has the protocol, docs/team-store.md the tables and who may do what.
-- Amounts are whole pico-dollars. The server's clock alone counts.

DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'fusebox_owner') THEN CREATE ROLE fusebox_owner NOLOGIN; END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'fusebox_member') THEN CREATE ROLE fusebox_member NOLOGIN; END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'fusebox_admin') THEN CREATE ROLE fusebox_admin NOLOGIN; END IF;
END $$;
GRANT fusebox_member TO fusebox_admin;
CREATE SCHEMA fusebox AUTHORIZATION fusebox_owner;
SET LOCAL ROLE fusebox_owner;
SET LOCAL search_path = fusebox, pg_temp;
-- What is created here is nobody's to call or to read until it is granted.
ALTER DEFAULT PRIVILEGES FOR ROLE fusebox_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

CREATE TABLE migration (
    number integer PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE team (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'),
    time_zone text NOT NULL DEFAULT 'UTC',
    -- Whom a blocked member asks.
    contact text NOT NULL DEFAULT '' CHECK (length(contact) <= 200),
    -- How long a lease lives without a renewal.
    lease_ms bigint NOT NULL DEFAULT 900000 CHECK (lease_ms BETWEEN 1000 AND 86400000),
    -- How old a reservation is before it may be spent: longer than the replica is behind.
    confirm_ms bigint NOT NULL DEFAULT 2000 CHECK (confirm_ms BETWEEN 0 AND 600000),
    -- A slice is no smaller, as long as that much is left.
    least_slice_pico_usd bigint NOT NULL DEFAULT 50000000000 CHECK (least_slice_pico_usd > 0),
    epoch bigint NOT NULL,
    grants_from timestamptz NOT NULL
);

CREATE TABLE member (
    team integer NOT NULL REFERENCES team,
    login name NOT NULL,
    role text NOT NULL CHECK (role IN ('member', 'admin')),
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (team, login)
);

CREATE TABLE machine (
    team integer NOT NULL REFERENCES team,
    id text NOT NULL CHECK (id ~ '^[A-Za-z0-9-]{8,64}$'),
    login name NOT NULL,
    last_number bigint NOT NULL DEFAULT 0,
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (team, id)
);

-- An empty login is the team as a whole for the scope `team`, and each user without a row of their own for the scope `user`.
CREATE TABLE cap (
    team integer NOT NULL REFERENCES team,
    scope text NOT NULL CHECK (scope IN ('team', 'user')),
    login name NOT NULL DEFAULT '' CHECK (scope = 'user' OR login = ''),
    period text NOT NULL CHECK (period IN ('day', 'week', 'month')),
    amount_pico_usd bigint NOT NULL CHECK (amount_pico_usd >= 0),
    PRIMARY KEY (team, scope, login, period)
);

CREATE TABLE lease (
    team integer NOT NULL REFERENCES team,
    machine text NOT NULL,
    -- The machine's own number; 0 is what was spent without a lease.
    number bigint NOT NULL CHECK (number >= 0),
    login name NOT NULL,
    state text NOT NULL CHECK (state IN ('open', 'closed', 'written_off')),
    amount_pico_usd bigint NOT NULL CHECK (amount_pico_usd >= 0),
    spent_pico_usd bigint NOT NULL DEFAULT 0,
    sequence bigint NOT NULL DEFAULT 0,
    day date NOT NULL,
    reserved_at timestamptz NOT NULL,
    confirmed_at timestamptz,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (team, machine, number)
);
CREATE INDEX lease_open ON lease (team, expires_at) WHERE state = 'open';

-- What is spent, and what is spent or leased, in one period. An empty login is the team.
CREATE TABLE used (
    team integer NOT NULL REFERENCES team,
    login name NOT NULL,
    period text NOT NULL,
    since date NOT NULL,
    spent_pico_usd bigint NOT NULL DEFAULT 0,
    committed_pico_usd bigint NOT NULL DEFAULT 0,
    open_leases integer NOT NULL DEFAULT 0,
    PRIMARY KEY (team, login, period, since)
);

CREATE TABLE charge (
    team integer NOT NULL REFERENCES team,
    message text NOT NULL CHECK (length(message) BETWEEN 1 AND 200),
    login name NOT NULL,
    machine text NOT NULL,
    number bigint NOT NULL,
    project text NOT NULL DEFAULT '' CHECK (length(project) <= 400),
    model text NOT NULL DEFAULT '' CHECK (length(model) <= 200),
    day date NOT NULL,
    cost_pico_usd bigint NOT NULL CHECK (cost_pico_usd BETWEEN 0 AND 1000000000000000000),
    settled_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (team, message)
);
CREATE INDEX charge_day ON charge (team, day);

CREATE TABLE audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    team integer NOT NULL REFERENCES team,
    by_login name NOT NULL DEFAULT session_user,
    what text NOT NULL,
    subject text NOT NULL,
    before text,
    after text
);

-- Who asks. `session_user` is who logged in: SET ROLE does not change it.
CREATE FUNCTION is_in(team integer, wanted text DEFAULT NULL) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
    SELECT EXISTS (SELECT FROM member m WHERE m.team = $1 AND m.login = session_user AND (wanted IS NULL OR m.role = wanted))
$$;

CREATE FUNCTION team_of(team_name text, wanted text DEFAULT NULL) RETURNS team
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE found team;
BEGIN
    SELECT t.* INTO found FROM team t WHERE t.name = team_name AND is_in(t.id, wanted);
    IF found.id IS NULL THEN
        RAISE EXCEPTION '% is no % of a team %', session_user, coalesce(wanted, 'member'), team_name
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN found;
END $$;

-- The server's timeline: it grows where a replica takes over, or a backup is restored.
CREATE FUNCTION timeline() RETURNS bigint LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint
$$;

CREATE FUNCTION today(t team) RETURNS date LANGUAGE sql SET search_path = fusebox, pg_temp AS $$
    SELECT (clock_timestamp() AT TIME ZONE t.time_zone)::date
$$;

CREATE FUNCTION end_of(t team, day date) RETURNS timestamptz LANGUAGE sql SET search_path = fusebox, pg_temp AS $$
    SELECT (day + 1)::timestamp AT TIME ZONE t.time_zone
$$;

CREATE FUNCTION begins(period text, day date) RETURNS date LANGUAGE sql IMMUTABLE SET search_path = fusebox, pg_temp AS $$
    SELECT date_trunc(period, day::timestamp)::date
$$;

-- Begins a new epoch where the server has one. Until the leases of the one before have run out it grants nothing.
CREATE FUNCTION enter_epoch(INOUT t team) LANGUAGE plpgsql SET search_path = fusebox, pg_temp AS $$
DECLARE last_end timestamptz;
BEGIN
    IF t.epoch = timeline() THEN RETURN; END IF;
    SELECT * INTO t FROM team WHERE id = t.id FOR NO KEY UPDATE;
    IF t.epoch = timeline() THEN RETURN; END IF;
    UPDATE lease SET reserved_at = clock_timestamp() WHERE team = t.id AND state = 'open' AND confirmed_at IS NULL;
    SELECT max(expires_at) INTO last_end FROM lease WHERE team = t.id AND state = 'open';
    UPDATE team SET epoch = timeline(),
        grants_from = greatest(clock_timestamp() + t.lease_ms * interval '1 ms', last_end)
        WHERE id = t.id RETURNING * INTO t;
    INSERT INTO audit (team, what, subject, after) VALUES (t.id, 'epoch', t.name, t.epoch::text);
END $$;

-- Locks what a member of the team has used in the periods of a day: the team's rows first.
CREATE FUNCTION lock_used(t team, who name, of_day date) RETURNS void LANGUAGE plpgsql SET search_path = fusebox, pg_temp AS $$
BEGIN
    INSERT INTO used (team, login, period, since)
        SELECT t.id, l, p, begins(p, of_day) FROM unnest(ARRAY['day', 'month', 'week']) p, unnest(ARRAY['', who]) l
        ORDER BY l, p ON CONFLICT DO NOTHING;
    PERFORM FROM used u WHERE u.team = t.id AND u.login IN ('', who) AND u.since = begins(u.period, of_day)
        ORDER BY u.login, u.period FOR UPDATE;
END $$;

CREATE FUNCTION add_used(t team, who name, of_day date, spent bigint, committed bigint, leases integer) RETURNS void
LANGUAGE sql SET search_path = fusebox, pg_temp AS $$
    UPDATE used u SET spent_pico_usd = u.spent_pico_usd + spent, committed_pico_usd = u.committed_pico_usd + committed,
        open_leases = u.open_leases + leases
    WHERE u.team = t.id AND u.login IN ('', who) AND u.since = begins(u.period, of_day)
$$;

-- What caps a user: a cap of their own before the one for each user.
CREATE FUNCTION caps_of(t team, who name) RETURNS TABLE (scope text, period text, amount bigint)
LANGUAGE sql STABLE SET search_path = fusebox, pg_temp AS $$
    SELECT DISTINCT ON (c.scope, c.period) c.scope, c.period, c.amount_pico_usd FROM cap c
    WHERE c.team = t.id AND c.login IN ('', who) ORDER BY c.scope, c.period, (c.login = '')
$$;

-- Returns what is left under every cap that binds a user; NULL where none does.
CREATE FUNCTION rest_of(t team, who name, of_day date) RETURNS bigint LANGUAGE sql SET search_path = fusebox, pg_temp AS $$
    SELECT min(greatest(c.amount - coalesce(u.committed_pico_usd, 0), 0)) FROM caps_of(t, who) c
    LEFT JOIN used u ON u.team = t.id AND u.period = c.period AND u.since = begins(c.period, of_day)
        AND u.login = CASE c.scope WHEN 'team' THEN '' ELSE who END
$$;

-- Notes that a machine asks, which is its first user's for good.
CREATE FUNCTION touch_machine(t team, machine_id text) RETURNS void LANGUAGE plpgsql SET search_path = fusebox, pg_temp AS $$
DECLARE owner name;
BEGIN
    INSERT INTO machine AS m (team, id, login) VALUES (t.id, machine_id, session_user)
        ON CONFLICT (team, id) DO UPDATE SET seen_at = clock_timestamp() RETURNING m.login INTO owner;
    IF owner <> session_user THEN
        RAISE EXCEPTION 'machine % is not of %', machine_id, session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
END $$;

-- Reserves a slice. The same number again reserves nothing.
CREATE FUNCTION lease(team_name text, machine_id text, lease_number bigint, want bigint,
    OUT epoch bigint, OUT answer text, OUT amount_pico_usd bigint, OUT wait_ms bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name);
    known lease;
    of_day date;
    sharers integer;
    rest bigint;
BEGIN
    IF lease_number < 1 OR want < 1 THEN
        RAISE EXCEPTION 'a lease has a number and an amount above 0' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    t := enter_epoch(t);
    epoch := t.epoch;
    PERFORM touch_machine(t, machine_id);
    of_day := today(t);
    PERFORM lock_used(t, session_user, of_day);
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
    rest := rest_of(t, session_user, of_day);
    SELECT u.open_leases INTO sharers FROM used u
        WHERE u.team = t.id AND u.login = '' AND u.period = 'day' AND u.since = of_day;
    amount_pico_usd := CASE WHEN rest IS NULL THEN want
        ELSE least(want, rest, greatest(rest / (4 * (sharers + 1)), t.least_slice_pico_usd)) END;
    IF amount_pico_usd <= 0 THEN
        amount_pico_usd := NULL;
        RETURN;
    END IF;
    INSERT INTO lease (team, machine, number, login, state, amount_pico_usd, day, reserved_at, expires_at)
        VALUES (t.id, machine_id, lease_number, session_user, 'open', amount_pico_usd, of_day, clock_timestamp(),
            least(clock_timestamp() + t.lease_ms * interval '1 ms', end_of(t, of_day)));
    PERFORM add_used(t, session_user, of_day, 0, amount_pico_usd, 1);
    answer := 'reserved';
END $$;

-- Says whether a lease may be spent, and for how long.
CREATE FUNCTION renew(team_name text, machine_id text, lease_number bigint,
    OUT epoch bigint, OUT answer text, OUT lives_ms bigint, OUT wait_ms bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
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

-- Charges a batch: each batch, and each response, once.
CREATE FUNCTION settle(team_name text, machine_id text, lease_number bigint, batch bigint, charges jsonb, closes boolean,
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
    -- What the server has forgotten, and what was spent without a lease, has nothing reserved.
    INSERT INTO lease (team, machine, number, login, state, amount_pico_usd, day, reserved_at, expires_at)
        VALUES (t.id, machine_id, lease_number, session_user, CASE lease_number WHEN 0 THEN 'open' ELSE 'closed' END,
            0, today(t), clock_timestamp(), clock_timestamp()) ON CONFLICT DO NOTHING;
    SELECT l.day INTO of_day FROM lease l WHERE l.team = t.id AND l.machine = machine_id AND l.number = lease_number;
    of_day := CASE lease_number WHEN 0 THEN today(t) ELSE of_day END;
    -- Locked in this order everywhere: what is used, then the lease.
    PERFORM lock_used(t, session_user, of_day);
    -- A response is charged once for the team: told by two machines in two periods, too.
    PERFORM pg_advisory_xact_lock(1179992912, t.id);
    SELECT * INTO known FROM lease l
        WHERE l.team = t.id AND l.machine = machine_id AND l.number = lease_number FOR UPDATE;
    IF batch = known.sequence + 1 THEN
        more := charge_all(t, machine_id, lease_number, of_day, charges);
        old_committed := CASE known.state WHEN 'open' THEN greatest(known.amount_pico_usd, known.spent_pico_usd)
            ELSE known.spent_pico_usd END;
        new_state := CASE WHEN closes AND known.state = 'open' AND lease_number > 0 THEN 'closed' ELSE known.state END;
        UPDATE lease l SET sequence = batch, spent_pico_usd = l.spent_pico_usd + more, state = new_state
            WHERE l.team = t.id AND l.machine = machine_id AND l.number = lease_number;
        PERFORM add_used(t, session_user, of_day, more,
            CASE new_state WHEN 'open' THEN greatest(known.amount_pico_usd, known.spent_pico_usd + more)
                ELSE known.spent_pico_usd + more END - old_committed,
            CASE WHEN new_state = known.state THEN 0 ELSE -1 END);
        known.sequence := batch;
        known.state := new_state;
    END IF;
    sequence := known.sequence;
    closed := known.state <> 'open';
END $$;

-- Writes the charges of a batch, and returns by how much they have grown.
CREATE FUNCTION charge_all(t team, machine_id text, lease_number bigint, of_day date, charges jsonb) RETURNS bigint
LANGUAGE sql SET search_path = fusebox, pg_temp AS $$
    WITH told AS (
        SELECT r.message, max(r.cost_pico_usd) AS cost, max(coalesce(r.project, '')) AS project, max(coalesce(r.model, '')) AS model
        FROM jsonb_to_recordset(charges) AS r(message text, cost_pico_usd bigint, project text, model text) GROUP BY r.message
    ), before AS (
        SELECT c.message, c.cost_pico_usd AS cost FROM charge c JOIN told USING (message) WHERE c.team = t.id
    ), written AS (
        INSERT INTO charge AS c (team, message, login, machine, number, project, model, day, cost_pico_usd)
            SELECT t.id, told.message, session_user, machine_id, lease_number, told.project, told.model, of_day, told.cost FROM told
            ON CONFLICT (team, message) DO UPDATE SET cost_pico_usd = excluded.cost_pico_usd, settled_at = clock_timestamp()
            WHERE excluded.cost_pico_usd > c.cost_pico_usd
    )
    SELECT coalesce(sum(greatest(told.cost - coalesce(before.cost, 0), 0)), 0)::bigint FROM told LEFT JOIN before USING (message)
$$;

-- Returns, for who asks, each cap with what is used of it and when its period ends.
CREATE FUNCTION status(team_name text) RETURNS TABLE (scope text, period text, since date, resets_at timestamptz,
    cap_pico_usd bigint, spent_pico_usd bigint, committed_pico_usd bigint, contact text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name);
    of_day date := today(t);
BEGIN
    RETURN QUERY SELECT c.scope, c.period, begins(c.period, of_day),
        end_of(t, (begins(c.period, of_day) + ('1 ' || c.period)::interval)::date - 1),
        c.amount, coalesce(u.spent_pico_usd, 0), coalesce(u.committed_pico_usd, 0), t.contact
    FROM caps_of(t, session_user) c
    LEFT JOIN used u ON u.team = t.id AND u.period = c.period AND u.since = begins(c.period, of_day)
        AND u.login = CASE c.scope WHEN 'team' THEN '' ELSE session_user END
    ORDER BY c.scope, c.period;
END $$;

-- The functions of admins. Each leaves a row in `audit`.

CREATE FUNCTION create_team(team_name text, zone text DEFAULT 'UTC') RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE new_id integer;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_timezone_names WHERE name = zone) THEN
        RAISE EXCEPTION 'no time zone is called %', zone USING ERRCODE = 'invalid_parameter_value';
    END IF;
    INSERT INTO team (name, time_zone, epoch, grants_from) VALUES (team_name, zone, timeline(), clock_timestamp())
        RETURNING id INTO new_id;
    INSERT INTO member (team, login, role) VALUES (new_id, session_user, 'admin');
    INSERT INTO audit (team, what, subject, after) VALUES (new_id, 'team', team_name, zone);
END $$;

-- Lets a login take part, as a `member` or an `admin`; NULL lets it out.
CREATE FUNCTION set_member(team_name text, who name, new_role text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name, 'admin');
    old_role text;
BEGIN
    PERFORM FROM team WHERE id = t.id FOR NO KEY UPDATE;
    SELECT m.role INTO old_role FROM member m WHERE m.team = t.id AND m.login = who;
    IF new_role IS NULL THEN
        DELETE FROM member m WHERE m.team = t.id AND m.login = who;
    ELSE
        IF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = who AND r.rolcanlogin) THEN
            RAISE EXCEPTION 'no login of the database is called %', who USING ERRCODE = 'undefined_object';
        END IF;
        INSERT INTO member AS m (team, login, role) VALUES (t.id, who, new_role)
            ON CONFLICT (team, login) DO UPDATE SET role = excluded.role;
    END IF;
    IF NOT EXISTS (SELECT FROM member m WHERE m.team = t.id AND m.role = 'admin') THEN
        RAISE EXCEPTION '% would be without an admin', team_name USING ERRCODE = 'invalid_parameter_value';
    END IF;
    INSERT INTO audit (team, what, subject, before, after) VALUES (t.id, 'member', who, old_role, new_role);
END $$;

-- Sets a cap; NULL takes it away. An empty login is the team, or each user.
CREATE FUNCTION set_cap(team_name text, cap_scope text, who name, cap_period text, amount bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name, 'admin');
    old_amount bigint;
BEGIN
    PERFORM FROM team WHERE id = t.id FOR NO KEY UPDATE;
    SELECT c.amount_pico_usd INTO old_amount FROM cap c
        WHERE c.team = t.id AND c.scope = cap_scope AND c.login = who AND c.period = cap_period;
    IF amount IS NULL THEN
        DELETE FROM cap c WHERE c.team = t.id AND c.scope = cap_scope AND c.login = who AND c.period = cap_period;
    ELSE
        INSERT INTO cap AS c (team, scope, login, period, amount_pico_usd) VALUES (t.id, cap_scope, who, cap_period, amount)
            ON CONFLICT (team, scope, login, period) DO UPDATE SET amount_pico_usd = excluded.amount_pico_usd;
    END IF;
    INSERT INTO audit (team, what, subject, before, after)
        VALUES (t.id, 'cap', concat_ws(' ', cap_scope, nullif(who::text, ''), cap_period), old_amount::text, amount::text);
END $$;

-- Sets whom a blocked member asks, and the times of the protocol.
CREATE FUNCTION set_team(team_name text, new_contact text, new_lease_ms bigint, new_confirm_ms bigint, new_least_slice bigint)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name, 'admin');
    n team;
BEGIN
    UPDATE team SET contact = coalesce(new_contact, contact), lease_ms = coalesce(new_lease_ms, lease_ms),
        confirm_ms = coalesce(new_confirm_ms, confirm_ms),
        least_slice_pico_usd = coalesce(new_least_slice, least_slice_pico_usd)
        WHERE id = t.id RETURNING * INTO n;
    INSERT INTO audit (team, what, subject, before, after) VALUES (t.id, 'team', t.name,
        concat_ws(' ', t.contact, t.lease_ms, t.confirm_ms, t.least_slice_pico_usd),
        concat_ws(' ', n.contact, n.lease_ms, n.confirm_ms, n.least_slice_pico_usd));
END $$;

-- Gives up what an expired lease has reserved. What its machine tells later is charged all the same.
CREATE FUNCTION write_off(team_name text, machine_id text, lease_number bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name, 'admin');
    known lease;
    freed bigint;
BEGIN
    t := enter_epoch(t);
    SELECT * INTO known FROM lease l WHERE l.team = t.id AND l.machine = machine_id AND l.number = lease_number;
    IF known.team IS NULL OR lease_number = 0 THEN
        RAISE EXCEPTION 'no lease % of machine %', lease_number, machine_id USING ERRCODE = 'no_data_found';
    END IF;
    PERFORM lock_used(t, known.login, known.day);
    SELECT * INTO known FROM lease l
        WHERE l.team = t.id AND l.machine = machine_id AND l.number = lease_number FOR UPDATE;
    -- An old epoch may have renewed it, and be forgotten.
    IF known.state <> 'open' OR clock_timestamp() < greatest(known.expires_at, t.grants_from) THEN
        RAISE EXCEPTION 'lease % of machine % is %, and can be written off once it has expired', lease_number, machine_id,
            known.state USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
    freed := greatest(known.amount_pico_usd - known.spent_pico_usd, 0);
    UPDATE lease l SET state = 'written_off' WHERE l.team = t.id AND l.machine = machine_id AND l.number = lease_number;
    PERFORM add_used(t, known.login, known.day, 0, -freed, -1);
    INSERT INTO audit (team, what, subject, before, after) VALUES (t.id, 'write_off',
        concat_ws(' ', known.login, machine_id, lease_number), known.amount_pico_usd::text, known.spent_pico_usd::text);
    RETURN freed;
END $$;

-- What was spent, as reports show it. A member sees their own, an admin all of the team.
CREATE VIEW spend WITH (security_invoker = true) AS
    SELECT t.name AS team, c.login, c.project, c.model, c.day, count(*) AS responses, sum(c.cost_pico_usd) AS cost_pico_usd
    FROM charge c JOIN team t ON t.id = c.team GROUP BY t.name, c.login, c.project, c.model, c.day;

-- Who may do what.

ALTER TABLE team ENABLE ROW LEVEL SECURITY;
ALTER TABLE member ENABLE ROW LEVEL SECURITY;
ALTER TABLE machine ENABLE ROW LEVEL SECURITY;
ALTER TABLE cap ENABLE ROW LEVEL SECURITY;
ALTER TABLE lease ENABLE ROW LEVEL SECURITY;
ALTER TABLE used ENABLE ROW LEVEL SECURITY;
ALTER TABLE charge ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit ENABLE ROW LEVEL SECURITY;

CREATE POLICY of_team ON team FOR SELECT USING (is_in(id));
CREATE POLICY of_team ON member FOR SELECT USING (is_in(team));
CREATE POLICY of_team ON machine FOR SELECT USING (is_in(team) AND login = session_user OR is_in(team, 'admin'));
CREATE POLICY of_team ON cap FOR SELECT USING (is_in(team));
CREATE POLICY of_team ON lease FOR SELECT USING (is_in(team) AND login = session_user OR is_in(team, 'admin'));
CREATE POLICY of_team ON used FOR SELECT USING (is_in(team) AND login IN ('', session_user) OR is_in(team, 'admin'));
CREATE POLICY of_team ON charge FOR SELECT USING (is_in(team) AND login = session_user OR is_in(team, 'admin'));
CREATE POLICY of_team ON audit FOR SELECT USING (is_in(team));

GRANT USAGE ON SCHEMA fusebox TO fusebox_member;
GRANT SELECT ON team, member, machine, cap, lease, used, charge, audit, spend TO fusebox_member;
GRANT EXECUTE ON FUNCTION is_in, lease, renew, settle, status TO fusebox_member;
GRANT EXECUTE ON FUNCTION create_team, set_member, set_cap, set_team, write_off TO fusebox_admin;

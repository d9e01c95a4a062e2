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
-- Functions come in the order in which people read them: one may call another that stands below it.
SET LOCAL check_function_bodies = off;
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
    -- A part of the sums of their own, beside those of machines: nobody else adds to it, and so nobody else can hold it.
    part integer GENERATED ALWAYS AS IDENTITY (START WITH 100),
    PRIMARY KEY (team, login)
);

CREATE TABLE group_member (
    team integer NOT NULL REFERENCES team,
    name text NOT NULL CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'),
    login name NOT NULL,
    PRIMARY KEY (team, name, login)
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
    scope text NOT NULL CHECK (scope IN ('team', 'user', 'group', 'project')),
    login name NOT NULL DEFAULT '' CHECK (scope = 'user' OR login = ''),
    -- A group's name, or a project's label.
    label text NOT NULL DEFAULT '' CHECK (length(label) <= 400),
    period text NOT NULL CHECK (period IN ('day', 'week', 'month')),
    amount_pico_usd bigint NOT NULL CHECK (amount_pico_usd >= 0),
    PRIMARY KEY (team, scope, login, label, period),
    CONSTRAINT cap_label_of_scope CHECK ((scope IN ('group', 'project')) = (label <> ''))
);

-- More for one period of a cap, which is over with it. An empty login is the team.
CREATE TABLE granted (
    team integer NOT NULL REFERENCES team,
    scope text NOT NULL CHECK (scope IN ('team', 'user')),
    login name NOT NULL DEFAULT '' CHECK ((scope = 'user') = (login <> '')),
    period text NOT NULL CHECK (period IN ('day', 'week', 'month')),
    since date NOT NULL,
    amount_pico_usd bigint NOT NULL CHECK (amount_pico_usd > 0),
    PRIMARY KEY (team, scope, login, period, since)
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

-- What is spent, and what is spent or leased, in one period. An empty login is the team. Leases add to part 0, which they lock for the
-- team. A settlement adds to the part of its machine, and waits for no lease. What a lease does not see of it yet, it would not have
-- seen a moment earlier either.
CREATE TABLE used (
    team integer NOT NULL REFERENCES team,
    login name NOT NULL,
    period text NOT NULL,
    since date NOT NULL,
    part integer NOT NULL DEFAULT 0,
    spent_pico_usd bigint NOT NULL DEFAULT 0,
    committed_pico_usd bigint NOT NULL DEFAULT 0,
    open_leases integer NOT NULL DEFAULT 0,
    PRIMARY KEY (team, login, period, since, part)
);

-- What is spent of a project in one period, by its label.
CREATE TABLE project_used (
    team integer NOT NULL REFERENCES team,
    project text NOT NULL,
    period text NOT NULL,
    since date NOT NULL,
    part integer NOT NULL DEFAULT 0,
    spent_pico_usd bigint NOT NULL,
    PRIMARY KEY (team, project, period, since, part)
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
    -- What the response had cost before it was told of last.
    before_pico_usd bigint NOT NULL DEFAULT 0,
    -- What the machine that told it first has told itself, where another has told more; NULL where none has.
    own_pico_usd bigint,
    settled_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (team, message)
);
CREATE INDEX charge_day ON charge (team, day);

-- What the clients of a machine say that they have spent: another sight of what it has settled.
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

CREATE TABLE shared_limit (
    team integer NOT NULL REFERENCES team,
    kind text NOT NULL CHECK (kind IN ('agents', 'requests')),
    amount bigint NOT NULL CHECK (amount BETWEEN 0 AND 1000000),
    -- The window of requests; NULL for agents.
    per_ms bigint CHECK (per_ms BETWEEN 1000 AND 86400000),
    PRIMARY KEY (team, kind),
    CHECK ((kind = 'requests') = (per_ms IS NOT NULL))
);

CREATE TABLE share (
    team integer NOT NULL REFERENCES team,
    kind text NOT NULL,
    machine text NOT NULL,
    login name NOT NULL,
    -- The machine's number of its last request: what comes late, or again, changes nothing.
    number bigint NOT NULL DEFAULT 0,
    amount bigint NOT NULL DEFAULT 0,
    -- As much of it as no failover can forget, until it is as old as that takes.
    usable bigint NOT NULL DEFAULT 0,
    grown_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- What counts in place of a smaller amount, until the window has passed in which it was used.
    draining bigint NOT NULL DEFAULT 0,
    drains_until timestamptz NOT NULL DEFAULT clock_timestamp(),
    per_ms bigint,
    expires_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- For how long the machine uses it beyond that where it does not hear the store; NULL where it does not keep the limit then.
    stale_ms bigint CHECK (stale_ms BETWEEN 0 AND 86400000),
    PRIMARY KEY (team, kind, machine)
);
CREATE INDEX share_counting ON share (team, kind) WHERE amount > 0 OR draining > 0;

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

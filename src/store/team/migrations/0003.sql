-- Caps of groups, which cap each of their logins, and of projects.

SET LOCAL ROLE fusebox_owner;
SET LOCAL search_path = fusebox, pg_temp;

CREATE TABLE group_member (
    team integer NOT NULL REFERENCES team,
    name text NOT NULL CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'),
    login name NOT NULL,
    PRIMARY KEY (team, name, login)
);

-- A group's name, or a project's label.
ALTER TABLE cap ADD COLUMN label text NOT NULL DEFAULT '' CHECK (length(label) <= 400),
    DROP CONSTRAINT cap_scope_check,
    ADD CONSTRAINT cap_scope_check CHECK (scope IN ('team', 'user', 'group', 'project')),
    ADD CONSTRAINT cap_label_of_scope CHECK ((scope IN ('group', 'project')) = (label <> '')),
    DROP CONSTRAINT cap_pkey,
    ADD PRIMARY KEY (team, scope, login, label, period);

-- What is spent of a project in one period, by the label that machines tell.
CREATE TABLE project_used (
    team integer NOT NULL REFERENCES team,
    project text NOT NULL,
    period text NOT NULL,
    since date NOT NULL,
    spent_pico_usd bigint NOT NULL,
    PRIMARY KEY (team, project, period, since)
);
INSERT INTO project_used SELECT c.team, c.project, p, begins(p, c.day), sum(c.cost_pico_usd)
    FROM charge c, unnest(ARRAY['day', 'week', 'month']) p WHERE c.project <> '' GROUP BY 1, 2, 3, 4;

-- What caps a user in the periods of a day: a cap of their own, else the lowest of their groups, else the one for each user; and
-- what is granted besides.
CREATE OR REPLACE FUNCTION caps_of(t team, who name, of_day date) RETURNS TABLE (scope text, period text, amount bigint)
LANGUAGE sql STABLE SET search_path = fusebox, pg_temp AS $$
    SELECT c.of, c.period, c.amount_pico_usd + coalesce(g.amount_pico_usd, 0) FROM (
        SELECT DISTINCT ON (b.of, b.period) b.* FROM (
            SELECT CASE k.scope WHEN 'team' THEN 'team' ELSE 'user' END AS of, k.period, k.amount_pico_usd,
                CASE WHEN k.login <> '' THEN 0 WHEN k.scope = 'group' THEN 1 ELSE 2 END AS rank
            FROM cap k WHERE k.team = t.id AND k.login IN ('', who) AND (k.scope IN ('team', 'user') OR k.scope = 'group'
                AND EXISTS (SELECT FROM group_member m WHERE m.team = t.id AND m.name = k.label AND m.login = who))
        ) b ORDER BY b.of, b.period, b.rank, b.amount_pico_usd
    ) c
    LEFT JOIN granted g ON g.team = t.id AND g.scope = c.of AND g.period = c.period AND g.since = begins(c.period, of_day)
        AND g.login = CASE c.of WHEN 'team' THEN '' ELSE who END
$$;

-- Writes the charges of a batch, sums them for their projects, and returns by how much they have grown.
CREATE OR REPLACE FUNCTION charge_all(t team, machine_id text, lease_number bigint, of_day date, charges jsonb) RETURNS bigint
LANGUAGE sql SET search_path = fusebox, pg_temp AS $$
    WITH told AS (
        SELECT r.message, max(r.cost_pico_usd) AS cost, max(coalesce(r.project, '')) AS project, max(coalesce(r.model, '')) AS model
        FROM jsonb_to_recordset(charges) AS r(message text, cost_pico_usd bigint, project text, model text) GROUP BY r.message
    ), before AS (
        SELECT c.message, c.cost_pico_usd AS cost, c.project FROM charge c JOIN told USING (message) WHERE c.team = t.id
    ), written AS (
        INSERT INTO charge AS c (team, message, login, machine, number, project, model, day, cost_pico_usd)
            SELECT t.id, told.message, session_user, machine_id, lease_number, told.project, told.model, of_day, told.cost FROM told
            ON CONFLICT (team, message) DO UPDATE SET cost_pico_usd = excluded.cost_pico_usd, settled_at = clock_timestamp()
            WHERE excluded.cost_pico_usd > c.cost_pico_usd
    ), grown AS (
        SELECT coalesce(before.project, told.project) AS project, greatest(told.cost - coalesce(before.cost, 0), 0) AS more
        FROM told LEFT JOIN before USING (message)
    ), of_projects AS (
        INSERT INTO project_used AS u (team, project, period, since, spent_pico_usd)
            SELECT t.id, g.project, p, begins(p, of_day), sum(g.more) FROM grown g, unnest(ARRAY['day', 'week', 'month']) p
            WHERE g.project <> '' AND g.more > 0 GROUP BY g.project, p
            ON CONFLICT (team, project, period, since) DO UPDATE SET spent_pico_usd = u.spent_pico_usd + excluded.spent_pico_usd
    )
    SELECT coalesce(sum(more), 0)::bigint FROM grown
$$;

-- Returns the caps of projects, each with what is spent of it: of all, or of the labels in a JSON array.
CREATE FUNCTION projects(team_name text, labels jsonb) RETURNS TABLE (project text, period text, resets_at timestamptz,
    cap_pico_usd bigint, spent_pico_usd bigint, contact text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name);
    of_day date := today(t);
BEGIN
    RETURN QUERY SELECT c.label, c.period, end_of(t, (begins(c.period, of_day) + ('1 ' || c.period)::interval)::date - 1),
        c.amount_pico_usd, coalesce(u.spent_pico_usd, 0), t.contact
    FROM cap c
    LEFT JOIN project_used u ON u.team = t.id AND u.project = c.label AND u.period = c.period AND u.since = begins(c.period, of_day)
    WHERE c.team = t.id AND c.scope = 'project' AND (labels IS NULL OR labels ? c.label)
    ORDER BY c.label, c.period;
END $$;

-- Sets the cap of a group's logins, or of a project; NULL takes it away.
CREATE FUNCTION set_label_cap(team_name text, cap_scope text, cap_label text, cap_period text, amount bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name, 'admin');
    old_amount bigint;
BEGIN
    PERFORM FROM team WHERE id = t.id FOR NO KEY UPDATE;
    IF cap_scope = 'group' AND amount IS NOT NULL
        AND NOT EXISTS (SELECT FROM group_member m WHERE m.team = t.id AND m.name = cap_label) THEN
        RAISE EXCEPTION 'no group of team % is called %', team_name, cap_label USING ERRCODE = 'no_data_found';
    END IF;
    SELECT c.amount_pico_usd INTO old_amount FROM cap c
        WHERE c.team = t.id AND c.scope = cap_scope AND c.label = cap_label AND c.period = cap_period;
    IF amount IS NULL THEN
        DELETE FROM cap c WHERE c.team = t.id AND c.scope = cap_scope AND c.label = cap_label AND c.period = cap_period;
    ELSE
        INSERT INTO cap AS c (team, scope, label, period, amount_pico_usd) VALUES (t.id, cap_scope, cap_label, cap_period, amount)
            ON CONFLICT (team, scope, login, label, period) DO UPDATE SET amount_pico_usd = excluded.amount_pico_usd;
    END IF;
    INSERT INTO audit (team, what, subject, before, after)
        VALUES (t.id, 'cap', concat_ws(' ', cap_scope, cap_label, cap_period), old_amount::text, amount::text);
END $$;

CREATE OR REPLACE FUNCTION set_cap(team_name text, cap_scope text, who name, cap_period text, amount bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name, 'admin');
    old_amount bigint;
BEGIN
    PERFORM FROM team WHERE id = t.id FOR NO KEY UPDATE;
    SELECT c.amount_pico_usd INTO old_amount FROM cap c
        WHERE c.team = t.id AND c.scope = cap_scope AND c.login = who AND c.period = cap_period;
    IF amount IS NULL THEN
        DELETE FROM cap c WHERE c.team = t.id AND c.scope = cap_scope AND c.login = who AND c.label = '' AND c.period = cap_period;
    ELSE
        INSERT INTO cap AS c (team, scope, login, period, amount_pico_usd) VALUES (t.id, cap_scope, who, cap_period, amount)
            ON CONFLICT (team, scope, login, label, period) DO UPDATE SET amount_pico_usd = excluded.amount_pico_usd;
    END IF;
    INSERT INTO audit (team, what, subject, before, after)
        VALUES (t.id, 'cap', concat_ws(' ', cap_scope, nullif(who::text, ''), cap_period), old_amount::text, amount::text);
END $$;

-- Puts a login into a group, or takes it out.
CREATE FUNCTION set_group(team_name text, group_name text, who name, belongs boolean) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name, 'admin');
    belonged boolean;
BEGIN
    PERFORM FROM team WHERE id = t.id FOR NO KEY UPDATE;
    belonged := EXISTS (SELECT FROM group_member m WHERE m.team = t.id AND m.name = group_name AND m.login = who);
    IF NOT belongs THEN
        DELETE FROM group_member m WHERE m.team = t.id AND m.name = group_name AND m.login = who;
    ELSIF NOT EXISTS (SELECT FROM member m WHERE m.team = t.id AND m.login = who) THEN
        RAISE EXCEPTION '% is no member of team %', who, team_name USING ERRCODE = 'no_data_found';
    ELSE
        INSERT INTO group_member VALUES (t.id, group_name, who) ON CONFLICT DO NOTHING;
    END IF;
    INSERT INTO audit (team, what, subject, before, after)
        VALUES (t.id, 'group', concat_ws(' ', group_name, who), belonged::text, belongs::text);
END $$;

ALTER TABLE group_member ENABLE ROW LEVEL SECURITY;
ALTER TABLE project_used ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_team ON group_member FOR SELECT USING (is_in(team));
CREATE POLICY of_team ON project_used FOR SELECT USING (is_in(team, 'admin'));
GRANT SELECT ON group_member, project_used TO fusebox_member;
GRANT EXECUTE ON FUNCTION projects TO fusebox_member;
GRANT EXECUTE ON FUNCTION set_label_cap, set_group TO fusebox_admin;

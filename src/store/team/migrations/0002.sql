-- More for one period of a cap, which is over with it.

SET LOCAL ROLE fusebox_owner;
SET LOCAL search_path = fusebox, pg_temp;

-- An empty login is the team.
CREATE TABLE granted (
    team integer NOT NULL REFERENCES team,
    scope text NOT NULL CHECK (scope IN ('team', 'user')),
    login name NOT NULL DEFAULT '' CHECK ((scope = 'user') = (login <> '')),
    period text NOT NULL CHECK (period IN ('day', 'week', 'month')),
    since date NOT NULL,
    amount_pico_usd bigint NOT NULL CHECK (amount_pico_usd > 0),
    PRIMARY KEY (team, scope, login, period, since)
);

-- What caps a user in the periods of a day: a cap of their own before the one for each user, and what is granted besides.
CREATE FUNCTION caps_of(t team, who name, of_day date) RETURNS TABLE (scope text, period text, amount bigint)
LANGUAGE sql STABLE SET search_path = fusebox, pg_temp AS $$
    SELECT c.scope, c.period, c.amount_pico_usd + coalesce(g.amount_pico_usd, 0) FROM (
        SELECT DISTINCT ON (k.scope, k.period) k.* FROM cap k
        WHERE k.team = t.id AND k.login IN ('', who) ORDER BY k.scope, k.period, (k.login = '')
    ) c
    LEFT JOIN granted g ON g.team = t.id AND g.scope = c.scope AND g.period = c.period AND g.since = begins(c.period, of_day)
        AND g.login = CASE c.scope WHEN 'team' THEN '' ELSE who END
$$;

CREATE OR REPLACE FUNCTION rest_of(t team, who name, of_day date) RETURNS bigint
LANGUAGE sql SET search_path = fusebox, pg_temp AS $$
    SELECT min(greatest(c.amount - coalesce(u.committed_pico_usd, 0), 0)) FROM caps_of(t, who, of_day) c
    LEFT JOIN used u ON u.team = t.id AND u.period = c.period AND u.since = begins(c.period, of_day)
        AND u.login = CASE c.scope WHEN 'team' THEN '' ELSE who END
$$;

CREATE OR REPLACE FUNCTION status(team_name text) RETURNS TABLE (scope text, period text, since date, resets_at timestamptz,
    cap_pico_usd bigint, spent_pico_usd bigint, committed_pico_usd bigint, contact text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name);
    of_day date := today(t);
BEGIN
    RETURN QUERY SELECT c.scope, c.period, begins(c.period, of_day),
        end_of(t, (begins(c.period, of_day) + ('1 ' || c.period)::interval)::date - 1),
        c.amount, coalesce(u.spent_pico_usd, 0), coalesce(u.committed_pico_usd, 0), t.contact
    FROM caps_of(t, session_user, of_day) c
    LEFT JOIN used u ON u.team = t.id AND u.period = c.period AND u.since = begins(c.period, of_day)
        AND u.login = CASE c.scope WHEN 'team' THEN '' ELSE session_user END
    ORDER BY c.scope, c.period;
END $$;

DROP FUNCTION caps_of(team, name);

-- Raises the caps of a user, or of the team where the login is empty, for the periods of today: all, or one.
CREATE FUNCTION grant_more(team_name text, who name, cap_period text, more bigint)
RETURNS TABLE (period text, before_pico_usd bigint, after_pico_usd bigint, resets_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name, 'admin');
    of_day date := today(t);
    of_scope text := CASE who WHEN '' THEN 'team' ELSE 'user' END;
    c record;
BEGIN
    IF more < 1 OR more > 9000000000000000000 THEN
        RAISE EXCEPTION 'a grant is of more than nothing' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM FROM team WHERE id = t.id FOR NO KEY UPDATE;
    IF who <> '' AND NOT EXISTS (SELECT FROM member m WHERE m.team = t.id AND m.login = who) THEN
        RAISE EXCEPTION '% is no member of team %', who, team_name USING ERRCODE = 'no_data_found';
    END IF;
    FOR c IN SELECT k.period AS of, k.amount FROM caps_of(t, who, of_day) k
        WHERE k.scope = of_scope AND (cap_period IS NULL OR k.period = cap_period) ORDER BY k.period
    LOOP
        IF c.amount::numeric + more > 9000000000000000000 THEN
            RAISE EXCEPTION 'no cap is that high' USING ERRCODE = 'invalid_parameter_value';
        END IF;
        INSERT INTO granted AS g (team, scope, login, period, since, amount_pico_usd)
            VALUES (t.id, of_scope, who, c.of, begins(c.of, of_day), more)
            ON CONFLICT ON CONSTRAINT granted_pkey DO UPDATE SET amount_pico_usd = g.amount_pico_usd + excluded.amount_pico_usd;
        INSERT INTO audit (team, what, subject, before, after) VALUES (t.id, 'grant',
            concat_ws(' ', of_scope, nullif(who::text, ''), c.of, begins(c.of, of_day)), c.amount::text, (c.amount + more)::text);
        RETURN QUERY SELECT c.of, c.amount, c.amount + more,
            end_of(t, (begins(c.of, of_day) + ('1 ' || c.of)::interval)::date - 1);
    END LOOP;
    IF NOT FOUND THEN
        RAISE EXCEPTION '% has no cap of that kind to raise', coalesce(nullif(who::text, ''), 'team ' || team_name)
            USING ERRCODE = 'no_data_found';
    END IF;
END $$;

ALTER TABLE granted ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_team ON granted FOR SELECT USING (is_in(team));
GRANT SELECT ON granted TO fusebox_member;
GRANT EXECUTE ON FUNCTION grant_more TO fusebox_admin;

-- Caps: who is bound by which, what is left, and how an admin sets them. Each change leaves a row in `audit`.

-- What caps a user in the periods of a day: a cap of their own, else the lowest of their groups, else the one for each user; and
-- what is granted besides.
CREATE FUNCTION caps_of(t team, who name, of_day date) RETURNS TABLE (scope text, period text, amount bigint)
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

CREATE FUNCTION rest_of(t team, who name, of_day date) RETURNS bigint
LANGUAGE sql SET search_path = fusebox, pg_temp AS $$
    SELECT min(greatest(c.amount - u.committed, 0)) FROM caps_of(t, who, of_day) c
    CROSS JOIN LATERAL sums(t.id, CASE c.scope WHEN 'team' THEN '' ELSE who END, c.period, of_day) u
$$;

CREATE FUNCTION status(team_name text) RETURNS TABLE (scope text, period text, since date, resets_at timestamptz,
    cap_pico_usd bigint, spent_pico_usd bigint, committed_pico_usd bigint, contact text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name);
    of_day date := today(t);
BEGIN
    RETURN QUERY SELECT c.scope, c.period, begins(c.period, of_day),
        end_of(t, (begins(c.period, of_day) + ('1 ' || c.period)::interval)::date - 1),
        c.amount, u.spent, u.committed, t.contact
    FROM caps_of(t, session_user, of_day) c
    CROSS JOIN LATERAL sums(t.id, CASE c.scope WHEN 'team' THEN '' ELSE session_user END, c.period, of_day) u
    ORDER BY c.scope, c.period;
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
        DELETE FROM cap c WHERE c.team = t.id AND c.scope = cap_scope AND c.login = who AND c.label = '' AND c.period = cap_period;
    ELSE
        INSERT INTO cap AS c (team, scope, login, period, amount_pico_usd) VALUES (t.id, cap_scope, who, cap_period, amount)
            ON CONFLICT (team, scope, login, label, period) DO UPDATE SET amount_pico_usd = excluded.amount_pico_usd;
    END IF;
    INSERT INTO audit (team, what, subject, before, after)
        VALUES (t.id, 'cap', concat_ws(' ', cap_scope, nullif(who::text, ''), cap_period), old_amount::text, amount::text);
END $$;

-- Sets the cap of a group's logins, or of a project in whatever form its address is said; NULL takes it away.
CREATE FUNCTION set_label_cap(team_name text, cap_scope text, cap_label text, cap_period text, amount bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name, 'admin');
    of_label text := CASE cap_scope WHEN 'project' THEN label_of(cap_label) ELSE cap_label END;
    old_amount bigint;
BEGIN
    PERFORM FROM team WHERE id = t.id FOR NO KEY UPDATE;
    IF cap_scope = 'group' AND amount IS NOT NULL
        AND NOT EXISTS (SELECT FROM group_member m WHERE m.team = t.id AND m.name = of_label) THEN
        RAISE EXCEPTION 'no group of team % is called %', team_name, of_label USING ERRCODE = 'no_data_found';
    END IF;
    SELECT c.amount_pico_usd INTO old_amount FROM cap c
        WHERE c.team = t.id AND c.scope = cap_scope AND c.label = of_label AND c.period = cap_period;
    IF amount IS NULL THEN
        DELETE FROM cap c WHERE c.team = t.id AND c.scope = cap_scope AND c.label = of_label AND c.period = cap_period;
    ELSE
        INSERT INTO cap AS c (team, scope, label, period, amount_pico_usd) VALUES (t.id, cap_scope, of_label, cap_period, amount)
            ON CONFLICT (team, scope, login, label, period) DO UPDATE SET amount_pico_usd = excluded.amount_pico_usd;
    END IF;
    INSERT INTO audit (team, what, subject, before, after)
        VALUES (t.id, 'cap', concat_ws(' ', cap_scope, of_label, cap_period), old_amount::text, amount::text);
END $$;

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

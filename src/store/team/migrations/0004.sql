-- Views for dashboards. Who reads them sees what their login sees elsewhere: a member what is theirs, an admin all of the team.

SET LOCAL ROLE fusebox_owner;
SET LOCAL search_path = fusebox, pg_temp;

-- Returns each cap that binds now, with what is used of it. An empty `whose` is the team.
CREATE FUNCTION caps_in_use() RETURNS TABLE (team text, scope text, whose text, period text, since date,
    cap_pico_usd bigint, spent_pico_usd bigint, committed_pico_usd bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
    SELECT DISTINCT t.name, c.scope, CASE c.scope WHEN 'team' THEN '' ELSE m.login::text END, c.period, begins(c.period, today(t)),
        c.amount, coalesce(u.spent_pico_usd, 0), coalesce(u.committed_pico_usd, 0)
    FROM team t JOIN member m ON m.team = t.id CROSS JOIN LATERAL caps_of(t, m.login, today(t)) c
    LEFT JOIN used u ON u.team = t.id AND u.period = c.period AND u.since = begins(c.period, today(t))
        AND u.login = CASE c.scope WHEN 'team' THEN '' ELSE m.login END
    WHERE is_in(t.id, 'admin') OR is_in(t.id) AND m.login = session_user
    UNION ALL
    SELECT t.name, c.scope, c.label, c.period, begins(c.period, today(t)), c.amount_pico_usd, coalesce(u.spent_pico_usd, 0),
        coalesce(u.spent_pico_usd, 0)
    FROM team t JOIN cap c ON c.team = t.id AND c.scope = 'project'
    LEFT JOIN project_used u ON u.team = t.id AND u.project = c.label AND u.period = c.period
        AND u.since = begins(c.period, today(t))
    WHERE is_in(t.id)
$$;

CREATE VIEW cap_use WITH (security_invoker = true) AS SELECT * FROM caps_in_use();

CREATE VIEW open_lease WITH (security_invoker = true) AS
    SELECT t.name AS team, l.login, l.machine, l.number, l.amount_pico_usd, l.spent_pico_usd, l.expires_at,
        l.expires_at <= clock_timestamp() AS is_expired
    FROM lease l JOIN team t ON t.id = l.team WHERE l.state = 'open' AND l.number > 0;

CREATE VIEW machine_seen WITH (security_invoker = true) AS
    SELECT t.name AS team, m.login, m.id AS machine, m.seen_at FROM machine m JOIN team t ON t.id = m.team;

CREATE VIEW change WITH (security_invoker = true) AS
    SELECT a.at, t.name AS team, a.by_login, a.what, a.subject, a.before, a.after FROM audit a JOIN team t ON t.id = a.team;

GRANT EXECUTE ON FUNCTION caps_in_use TO fusebox_member;
GRANT SELECT ON cap_use, open_lease, machine_seen, change TO fusebox_member;

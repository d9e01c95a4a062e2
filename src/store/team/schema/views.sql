-- Views for reports and dashboards. Who reads them sees what their login sees elsewhere: a member what is theirs, an admin all of the
-- team.

-- What was spent.
CREATE VIEW spend WITH (security_invoker = true) AS
    SELECT t.name AS team, c.login, c.project, c.model, c.day, count(*) AS responses, sum(c.cost_pico_usd) AS cost_pico_usd
    FROM charge c JOIN team t ON t.id = c.team GROUP BY t.name, c.login, c.project, c.model, c.day;

-- Returns each cap that binds now, with what is used of it. An empty `whose` is the team.
CREATE FUNCTION caps_in_use() RETURNS TABLE (team text, scope text, whose text, period text, since date,
    cap_pico_usd bigint, spent_pico_usd bigint, committed_pico_usd bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
    SELECT c.team, c.scope, c.whose::text, c.period, begins(c.period, c.day), c.amount, u.spent, u.committed FROM (
        SELECT DISTINCT t.id, t.name AS team, k.scope, CASE k.scope WHEN 'team' THEN '' ELSE m.login END AS whose, k.period,
            k.amount, today(t) AS day
        FROM team t JOIN member m ON m.team = t.id CROSS JOIN LATERAL caps_of(t, m.login, today(t)) k
        WHERE is_in(t.id, 'admin') OR is_in(t.id) AND m.login = session_user
    ) c CROSS JOIN LATERAL sums(c.id, c.whose, c.period, c.day) u
    UNION ALL
    SELECT t.name, c.scope, c.label, c.period, begins(c.period, today(t)), c.amount_pico_usd, p.spent, p.spent
    FROM team t JOIN cap c ON c.team = t.id AND c.scope = 'project'
    CROSS JOIN LATERAL (SELECT project_sum(t.id, c.label, c.period, today(t)) AS spent) p
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

-- Returns each limit that the machines of a team share, with what they have reserved of it.
CREATE FUNCTION shares_in_use() RETURNS TABLE (team text, kind text, cap bigint, per_ms bigint, reserved bigint, machines bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
    SELECT t.name, l.kind, l.amount, l.per_ms, coalesce(sum(counts(s, clock_timestamp())), 0)::bigint,
        count(*) FILTER (WHERE counts(s, clock_timestamp()) > 0)
    FROM team t JOIN shared_limit l ON l.team = t.id LEFT JOIN share s ON s.team = l.team AND s.kind = l.kind
    WHERE is_in(t.id) GROUP BY t.name, l.kind, l.amount, l.per_ms
$$;

CREATE VIEW share_use WITH (security_invoker = true) AS SELECT * FROM shares_in_use();

CREATE VIEW open_share WITH (security_invoker = true) AS
    SELECT t.name AS team, s.kind, s.login, s.machine, s.amount, counts(s, clock_timestamp()) AS counted, s.expires_at,
        has_lapsed(s, clock_timestamp()) OR m.login IS NULL AS is_expired
    FROM share s JOIN team t ON t.id = s.team JOIN shared_limit l ON l.team = s.team AND l.kind = s.kind
        LEFT JOIN member m ON m.team = s.team AND m.login = s.login
    WHERE counts(s, clock_timestamp()) > 0;

-- What the machines have settled, beside what else shows it.

-- Compares, for each login, what its machines have settled in so many days with what else shows what they spent: the totals of their
-- clients in sessions that began in these days, machine by machine, and what other machines have told of the same responses.
CREATE FUNCTION audit_spend(team_name text, days integer) RETURNS TABLE (login text, settled_pico_usd bigint,
    client_total_pico_usd bigint, client_more_pico_usd bigint, others_more_pico_usd bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name, 'admin');
    from_day date := today(t) - days + 1;
BEGIN
    RETURN QUERY WITH settled AS (
        -- A day more: the days of sessions are in UTC, and these are of the team's time zone.
        SELECT c.login AS who, c.machine, sum(coalesce(c.own_pico_usd, c.cost_pico_usd)) AS cost,
            sum(c.cost_pico_usd - coalesce(c.own_pico_usd, c.cost_pico_usd)) AS others_more
        FROM charge c WHERE c.team = t.id AND c.day >= from_day - 1 GROUP BY c.login, c.machine
    ), clients AS (
        SELECT k.login AS who, k.machine, sum(k.total_pico_usd) AS total
        FROM client_total k WHERE k.team = t.id AND k.day >= from_day GROUP BY k.login, k.machine
    )
    SELECT who::text, least(sum(coalesce(s.cost, 0)), 9000000000000000000)::bigint,
        least(sum(coalesce(k.total, 0)), 9000000000000000000)::bigint,
        least(sum(greatest(coalesce(k.total, 0) - coalesce(s.cost, 0), 0)), 9000000000000000000)::bigint,
        least(sum(coalesce(s.others_more, 0)), 9000000000000000000)::bigint
    FROM settled s FULL JOIN clients k USING (who, machine) GROUP BY who ORDER BY who;
END $$;

-- Who asks, and who takes part. `session_user` is who logged in: SET ROLE does not change it.

-- Whether who asks takes part in a team, in a role if one is wanted.
CREATE FUNCTION is_in(team integer, wanted text DEFAULT NULL) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
    SELECT EXISTS (SELECT FROM member m WHERE m.team = $1 AND m.login = session_user AND (wanted IS NULL OR m.role = wanted))
$$;

-- Returns the team of a name; fails where who asks does not take part in it.
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

-- Notes that a machine was heard. Its requests come one after the other from here on, until the transaction ends. One that goes by
-- the sums of an earlier moment would lease what is leased already.
CREATE FUNCTION touch_machine(t team, machine_id text) RETURNS void
LANGUAGE plpgsql SET search_path = fusebox, pg_temp AS $$
DECLARE owner name;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'a machine asks in a transaction that is read committed' USING ERRCODE = 'invalid_transaction_state';
    END IF;
    INSERT INTO machine AS m (team, id, login) VALUES (t.id, machine_id, session_user)
        ON CONFLICT (team, id) DO UPDATE SET seen_at = clock_timestamp() RETURNING m.login INTO owner;
    IF owner <> session_user THEN
        RAISE EXCEPTION 'machine % is not of %', machine_id, session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
END $$;

-- Makes a team, with who asks as its admin.
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

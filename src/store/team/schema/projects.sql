-- A project has one name, in whatever form its address is told.

-- Returns text with each escape (`%41`) resolved once; NULL where that is no text.
CREATE FUNCTION resolved_escapes(written text) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = fusebox, pg_temp AS $$
BEGIN
    IF strpos(written, '%') = 0 THEN RETURN written; END IF;
    RETURN (SELECT convert_from(string_agg(CASE WHEN length(e.part[1]) = 3 AND e.part[1] ~ '^%[0-9A-Fa-f]{2}$'
            THEN decode(substr(e.part[1], 2), 'hex') ELSE convert_to(e.part[1], 'UTF8') END, ''::bytea ORDER BY e.at), 'UTF8')
        FROM regexp_matches(written, '%[0-9A-Fa-f]{2}|%|[^%]+', 'g') WITH ORDINALITY AS e(part, at));
EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
    RETURN NULL;
END $$;

-- Returns `host/path` of an address, simplified once; NULL where it names no repository on a server, or could hold a secret.
CREATE FUNCTION simplified_address(written text) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = fusebox, pg_temp AS $$
DECLARE
    address text := regexp_replace(written, '[?#].*$', '');
    schemes text := '^(https?|ssh|git|git\+ssh|ssh\+git|ftps?)';
    place text[];
    host text;
    path text;
    behind text;
    segment text;
    segments text[] := '{}';
BEGIN
    address := regexp_replace(address, schemes || '::', '', 'i');
    IF strpos(address, '://') > 0 THEN
        IF address !~* (schemes || '://') THEN RETURN NULL; END IF;
        place := regexp_match(substr(address, strpos(address, '://') + 3), '^([^/]*)/?(.*)$');
    ELSE
        -- As scp writes it, or as it is returned here. One letter before a colon is a drive of Windows.
        place := regexp_match(address, '^([^]]*\][^:/]*|[^]:/]*)[:/](.*)$');
        IF place IS NULL OR octet_length(place[1]) < 2 AND substr(address, length(place[1]) + 1, 1) = ':' THEN RETURN NULL; END IF;
    END IF;
    address := translate(resolved_escapes(regexp_replace(place[1], '^.*@', '') || '/' || place[2]),
        'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz');
    IF address IS NULL THEN RETURN NULL; END IF;
    host := regexp_replace(split_part(address, '/', 1), '^.*@', '');
    path := substr(address, strpos(address, '/') + 1);
    behind := substring(host FROM '^.*\](.*)$');
    IF behind !~ '^(:[0-9]*)?$' THEN RETURN NULL; END IF;
    host := ltrim(regexp_replace(host, '\][^]]*$', ''), '[');
    IF host ~ ':.*:' THEN
        IF host !~ '^[0-9a-f:.]+$' THEN RETURN NULL; END IF;
        host := '[' || host || ']';
    ELSE
        IF host !~ '^[a-z0-9._-]+(:[0-9]*)?$' THEN RETURN NULL; END IF;
        host := rtrim(split_part(host, ':', 1), '.');
    END IF;
    FOREACH segment IN ARRAY string_to_array(path, '/') LOOP
        IF segment = '..' THEN
            segments := segments[1:cardinality(segments) - 1];
        ELSIF segment NOT IN ('', '.', '~') THEN
            segments := segments || segment;
        END IF;
    END LOOP;
    path := rtrim(regexp_replace(array_to_string(segments, '/'), '(\.git)+$', ''), '/');
    -- With `@` or `:` it could be the rest of a login.
    IF host = '' OR path = '' OR path ~ '[\u0001-\u0020"#:;<>?@[\\\]^`{|}\u007f]' THEN RETURN NULL; END IF;
    RETURN host || '/' || path;
END $$;

-- Returns the address by which a project is known, of any form of it; NULL where it has none. Machines do the same.
CREATE FUNCTION project_address(written text) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = fusebox, pg_temp AS $$
DECLARE
    address text := written;
    simpler text;
BEGIN
    IF octet_length(written) > 4096 THEN RETURN NULL; END IF;
    FOR round IN 1..8 LOOP
        simpler := simplified_address(address);
        IF simpler IS NULL THEN RETURN NULL; END IF;
        IF simpler = address THEN
            RETURN CASE WHEN octet_length(address) <= 400 THEN address END;
        END IF;
        address := simpler;
    END LOOP;
    RETURN NULL;
END $$;

-- Returns the label of a project: its address, or what was told where that is none.
CREATE FUNCTION label_of(told text) RETURNS text LANGUAGE sql IMMUTABLE SET search_path = fusebox, pg_temp AS $$
    SELECT coalesce(project_address(told), told)
$$;

-- A machine may tell any form. The sums of projects are made of what is written here.
CREATE FUNCTION name_project() RETURNS trigger LANGUAGE plpgsql SET search_path = fusebox, pg_temp AS $$
BEGIN
    NEW.project := label_of(NEW.project);
    RETURN NEW;
END $$;
CREATE TRIGGER name_project BEFORE INSERT ON charge FOR EACH ROW WHEN (NEW.project <> '') EXECUTE FUNCTION name_project();

-- Returns the caps of projects, each with what is spent of it: of all, or of the labels in a JSON array, by the form that was asked for.
CREATE FUNCTION projects(team_name text, labels jsonb) RETURNS TABLE (project text, period text, resets_at timestamptz,
    cap_pico_usd bigint, spent_pico_usd bigint, contact text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = fusebox, pg_temp AS $$
DECLARE
    t team := team_of(team_name);
    of_day date := today(t);
BEGIN
    RETURN QUERY SELECT coalesce(a.asked, c.label), c.period,
        end_of(t, (begins(c.period, of_day) + ('1 ' || c.period)::interval)::date - 1),
        c.amount_pico_usd, project_sum(t.id, c.label, c.period, of_day), t.contact
    FROM cap c LEFT JOIN (
        SELECT DISTINCT x AS asked, label_of(x) AS label FROM jsonb_array_elements_text(labels) x
    ) a ON a.label = c.label
    WHERE c.team = t.id AND c.scope = 'project' AND (labels IS NULL OR a.label IS NOT NULL)
    ORDER BY 1, c.period;
END $$;

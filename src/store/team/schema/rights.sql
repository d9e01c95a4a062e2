-- Who may do what. Rows are of who takes part in their team; functions change them, and what is not granted here is nobody's.

ALTER TABLE team ENABLE ROW LEVEL SECURITY;
ALTER TABLE member ENABLE ROW LEVEL SECURITY;
ALTER TABLE machine ENABLE ROW LEVEL SECURITY;
ALTER TABLE cap ENABLE ROW LEVEL SECURITY;
ALTER TABLE lease ENABLE ROW LEVEL SECURITY;
ALTER TABLE used ENABLE ROW LEVEL SECURITY;
ALTER TABLE charge ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE granted ENABLE ROW LEVEL SECURITY;
ALTER TABLE group_member ENABLE ROW LEVEL SECURITY;
ALTER TABLE project_used ENABLE ROW LEVEL SECURITY;
ALTER TABLE client_total ENABLE ROW LEVEL SECURITY;
ALTER TABLE shared_limit ENABLE ROW LEVEL SECURITY;
ALTER TABLE share ENABLE ROW LEVEL SECURITY;

CREATE POLICY of_team ON team FOR SELECT USING (is_in(id));
CREATE POLICY of_team ON member FOR SELECT USING (is_in(team));
CREATE POLICY of_team ON machine FOR SELECT USING (is_in(team) AND login = session_user OR is_in(team, 'admin'));
CREATE POLICY of_team ON cap FOR SELECT USING (is_in(team));
CREATE POLICY of_team ON lease FOR SELECT USING (is_in(team) AND login = session_user OR is_in(team, 'admin'));
CREATE POLICY of_team ON used FOR SELECT USING (is_in(team) AND login IN ('', session_user) OR is_in(team, 'admin'));
CREATE POLICY of_team ON charge FOR SELECT USING (is_in(team) AND login = session_user OR is_in(team, 'admin'));
CREATE POLICY of_team ON audit FOR SELECT USING (is_in(team));
CREATE POLICY of_team ON granted FOR SELECT USING (is_in(team));
CREATE POLICY of_team ON group_member FOR SELECT USING (is_in(team));
CREATE POLICY of_team ON project_used FOR SELECT USING (is_in(team, 'admin'));
CREATE POLICY of_team ON client_total FOR SELECT USING (is_in(team) AND login = session_user OR is_in(team, 'admin'));
CREATE POLICY of_team ON shared_limit FOR SELECT USING (is_in(team));
CREATE POLICY of_team ON share FOR SELECT USING (is_in(team) AND login = session_user OR is_in(team, 'admin'));

GRANT USAGE ON SCHEMA fusebox TO fusebox_member;
GRANT SELECT ON team, member, machine, cap, granted, group_member, lease, used, project_used, charge, client_total, shared_limit, share, audit
    TO fusebox_member;
GRANT SELECT ON spend, cap_use, open_lease, machine_seen, change, share_use, open_share TO fusebox_member;
GRANT EXECUTE ON FUNCTION is_in, counts, has_lapsed TO fusebox_member;
GRANT EXECUTE ON FUNCTION lease, renew, settle, reserve, sync, sync_share, status, projects, caps_in_use, shares_in_use TO fusebox_member;
GRANT EXECUTE ON FUNCTION create_team, set_team, set_member, set_group, set_cap, set_label_cap, grant_more, write_off, set_shared_limit,
    write_off_share TO fusebox_admin;
GRANT EXECUTE ON FUNCTION audit_spend TO fusebox_member;

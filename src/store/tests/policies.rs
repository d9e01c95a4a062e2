//! Pinned policies, as they were stored and as another program has changed them.

use crate::error::Result;
use crate::store::tests::store;

#[test]
fn a_policy_that_another_program_has_changed_is_not_read_and_is_kept_anew() -> Result<()> {
    let (_folder, store) = store();
    let of_text = |text: &str| store.keep_policy(text).unwrap();
    let id = of_text("first");
    for deed in
        ["UPDATE policy SET content = 'other'", "UPDATE policy SET id = id + 1", "UPDATE policy SET id = 4294967297"]
    {
        store.conn.execute(deed, [])?;
        assert_eq!(
            (store.policy(id)?, store.policy(id + 1)?, store.policy(4_294_967_297)?),
            (None, None, None),
            "{deed}"
        );
        assert_eq!((of_text("first"), store.policy(id)?), (id, Some("first".to_owned())), "{deed}");
        store.conn.execute("DELETE FROM policy WHERE id <> ?1", [id])?;
    }
    // An earlier version counted policies.
    store.conn.execute("INSERT INTO policy (id, content) VALUES (3, 'earlier')", [])?;
    assert_eq!((of_text("earlier"), store.policy(3)?), (3, Some("earlier".to_owned())));
    Ok(())
}

#[test]
fn each_policy_is_stored_once() -> Result<()> {
    let (_folder, store) = store();
    let ids = ["{}", "{ }", "{}"].map(|text| store.keep_policy(text).unwrap());
    assert!(ids[0] == ids[2] && ids[0] != ids[1] && store.policy(1)?.is_none());
    assert_eq!(ids.map(|id| store.policy(id).unwrap()), ["{}", "{ }", "{}"].map(|text| Some(text.to_owned())));
    Ok(())
}

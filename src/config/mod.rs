//! Configuration: files, frontmatter and spawn blocks become typed settings, and settings become rules.
//!
//! The way of a value: [`load`] reads files, [`read`] turns JSON into [`setting::Document`]s, `settle` drops what may not
//! stand, [`resolve`] picks the strongest of what is left, and [`policy::Policy`] holds it all for one client.
//! What each key takes and does is its row in [`keys`].
//! Only [`load`] touches the file system.

#[cfg(feature = "watch")]
pub mod alerts;
pub mod binding;
pub mod discipline;
pub mod effective;
pub mod fitting;
pub mod frontmatter;
pub mod holds;
pub mod jsonc;
pub mod key;
pub mod keys;
pub mod layers;
pub mod learned_caps;
pub mod limit_name;
pub mod load;
pub mod locks;
pub mod observation;
pub mod per_limit;
pub mod permissions;
pub mod place;
pub mod policy;
pub mod problem;
pub mod rate_windows;
pub mod read;
pub mod resolve;
pub mod resolved;
pub mod run_policies;
pub mod schema;
pub mod setting;
pub mod setting_value;
pub mod slips;
pub mod spawn;
pub mod unknown_agents;
pub mod validate;
pub mod value_type;
pub mod yaml;

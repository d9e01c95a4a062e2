//! `docs/compatibility.md`: what the table of clients says, and what `./check clients` counted.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use fusebox::install::client_versions::{self, DIFFERENCES, Feature, TRIED};
use fusebox::platform::environment::Environment;
use fusebox::wire::events::EVENTS;

use crate::world::check_current;

/// The scenario of `tests/client` that tells each feature apart.
const SHOWN: [(Feature, &str); DIFFERENCES.len()] = [
    (Feature::OnFailure, "closed::closed_whatever_is_wrong_with_the_binary_the_call_is_refused"),
    (Feature::ManagedInBare, "adversary::clients::managed_hooks_run_in_clients_without_hooks"),
    (Feature::Mods, "adversary::mods::a_mod_overrules_the_hooks_of_the_next_client"),
    (Feature::WholeUsage, "cost::a_subagents_cap_holds_and_its_parent_is_told"),
    (Feature::Attendance, "ask::where_nobody_can_answer_it_terminates"),
    (Feature::PromptsAtWork, "identity::a_prompt_typed_while_main_works_resets_nothing"),
    (Feature::BackgroundAgents, "turns::in_a_terminal_the_parent_is_told_at_the_notification"),
    (Feature::KilledCommands, "duration::a_background_command"),
    (Feature::ReplacedSettings, "adversary::settings::hooks_taken_out_of_the_settings_stay_in_force"),
    (Feature::EarlySettings, "adversary::settings::hooks_are_not_switched_off"),
    (Feature::Monitor, "duration::a_command_that_is_watched"),
    (Feature::HeadlessNotices, "adversary::clients::a_call_of_the_api_is_told"),
    (Feature::Forks, "cost::agents_that_come_another_way_are_billed_once"),
    (Feature::OneTotal, "cost::the_report_agrees_with_the_client_over_subagents_resume_and_fork"),
    (Feature::WholeTotals, "adversary::unasked::what_a_report_asks_in_clients_below_is_charged_and_bound"),
    (Feature::AgentCounts, "delegation::in_one_message_no_more_start_than_have_room"),
    (Feature::MarkedDenials, "adversary::failing::calls_that_an_own_hook_denies_end_an_agent_without_state"),
    (Feature::HeadlessPermissions, "adversary::dialogs::an_own_hook_works_where_nobody_attends"),
    (Feature::LongCompactions, "compactions::a_call_behind_a_compaction_that_passed_the_cap_is_refused"),
    (
        Feature::CompactionModel,
        "compactions::a_compaction_by_a_client_with_another_model_is_charged_at_no_less_than_it_costs",
    ),
    (Feature::ModelSwitches, "money::the_model_that_a_person_chooses_is_the_one_that_is_held_for"),
    (Feature::MovedSettings, "adversary::unasked::a_session_that_moves_to_another_folder_leaves_its_hooks"),
    (Feature::HooksWithoutFolder, "watching::a_client_that_can_start_no_hook_is_ended"),
    (Feature::NewestModel, "harness::a_headless_client_follows_its_script"),
];

/// Returns the table of differences, a column a version.
fn differences() -> String {
    let versions = TRIED.map(client_versions::show);
    let mut table = format!("| before it was so | {} | limits there | shown by |\n", versions.join(" | "));
    table += &format!("|{}\n", "---|".repeat(versions.len() + 3));
    for row in &DIFFERENCES {
        let has = TRIED.map(|version| if version >= row.since { "as now" } else { "before" }).join(" | ");
        let scenario = SHOWN.iter().find(|shown| shown.0 == row.feature).map_or("", |shown| shown.1);
        let loss = row.loss.unwrap_or("hold");
        let _written = writeln!(table, "| {} | {has} | {loss} | `cargo test --test client {scenario}` |", row.before);
    }
    table
}

/// Replaces what stands between two marks of a page.
fn put(page: &str, mark: &str, text: &str) -> String {
    let (before, rest) = page.split_once(&format!("<!-- {mark} -->\n")).unwrap();
    let (_, after) = rest.split_once(&format!("<!-- end of {mark} -->\n")).unwrap();
    format!("{before}<!-- {mark} -->\n{text}<!-- end of {mark} -->\n{after}")
}

#[test]
fn the_page_says_what_the_table_says() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/compatibility.md");
    let mut page = put(&fs::read_to_string(place).unwrap(), "differences", &differences());
    // What `./check clients` has just counted.
    if let Some(counts) = Environment::real().var("FUSEBOX_CLIENT_COUNTS") {
        page = put(&page, "counts", &fs::read_to_string(counts).unwrap());
    }
    check_current("docs/compatibility.md", &page);
}

/// An event that not every client tried knows is a difference between them, at the same version.
#[test]
fn every_newer_event_is_a_difference_of_its_version() {
    let newer: Vec<(&str, [u32; 3])> = EVENTS.iter().filter_map(|row| Some((row.name, row.since?))).collect();
    assert!(!newer.is_empty());
    for (event, since) in newer {
        assert!(TRIED.contains(&since) && since > TRIED[0], "{event}");
        let told = DIFFERENCES.iter().filter(|row| row.before.contains(event));
        assert_eq!(told.map(|row| row.since).collect::<Vec<_>>(), [since], "{event}");
    }
}

#[test]
fn every_difference_is_shown_by_a_scenario() {
    for (feature, scenario) in SHOWN {
        let (module, name) = scenario.rsplit_once("::").unwrap();
        let file = format!("tests/client/{}.rs", module.replace("::", "/"));
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        assert!(fs::read_to_string(path).unwrap().contains(&format!("fn {name}()")), "{feature:?}: {scenario}");
    }
}

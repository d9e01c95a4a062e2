//! `fusebox pricing`: what is paid for what, by whose word, and whether a person's own rows are right.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;

use crate::cmd::config::project_folder;
use crate::cmd::query;
use crate::config::load;
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::platform::files;
use crate::pricing;
use crate::pricing::overrides::{self, Overrides};
use crate::pricing::price_row::Price;
use crate::pricing::show;
use crate::pricing::table::{Table, canonical};
use crate::store::trust::is_trusted;
use crate::ui::formats::counted;
use crate::ui::style::Style;
use crate::ui::table::{Align, Column, table};

/// Arguments of `fusebox pricing`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the prices in force: USD per million tokens, with each row's date and source
    ///
    /// Embedded rows are the client's own; rows of `fusebox.pricing.json` in the client's configuration folder
    /// (`~/.claude`) are laid over them and have the source `yours`.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Print only this model's rows; any form of its id will do
        model: Option<String>,
        /// Print JSON, in the form that a pricing file has
        #[arg(long)]
        json: bool,
    },
    /// Check your pricing file, and name every row and field that is wrong
    #[command(after_help = CHECK_EXAMPLES)]
    Check {
        /// Check this file instead of `fusebox.pricing.json` in the client's configuration folder
        file: Option<PathBuf>,
    },
}

const SHOW_EXAMPLES: &str = "\
Examples:
  fusebox pricing show
  fusebox pricing show 'us.anthropic.claude-opus-4-1-20250805-v1:0'
  fusebox pricing show --json claude-sonnet-5-5 > my-prices.json";

const CHECK_EXAMPLES: &str = "\
Examples:
  fusebox pricing check
  fusebox pricing check my-prices.json";

/// Below the table: what the columns and the sources are.
const LEGEND: &str = "
USD per million tokens. 5M and 1H: tokens written to the cache for five minutes
and for an hour; READ: tokens read from it. A web search is 0.01 USD. Inference
bound to the US costs 1.1 times. Sources: the table inside that version of the
client, as read on that day; `yours`: your own pricing file, whose prices count
no lower than these where caps on cost hold that are not your own.
";

/// The columns of the table.
const COLUMNS: [Column; 8] = [
    Column::new("MODEL", Align::Left, 0),
    Column::new("FROM", Align::Left, 0),
    Column::new("IN", Align::Right, 0),
    Column::new("OUT", Align::Right, 0),
    Column::new("5M", Align::Right, 0),
    Column::new("1H", Align::Right, 0),
    Column::new("READ", Align::Right, 0),
    Column::new("SOURCE", Align::Left, 0),
];

/// Runs `fusebox pricing`.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    match &args.command {
        Command::Show { model: None, json } => show(env, None, *json),
        Command::Show { model: Some(model), json } => show(env, Some(model), *json),
        Command::Check { file } => check(env, file.as_deref()),
    }
}

fn show(env: &Environment, model: Option<&str>, json: bool) -> Result<ExitCode> {
    let folder = project_folder(env);
    let (policy, _) = load::load(env, &folder, is_trusted(env, &folder));
    let (prices, error) = pricing::load(env, policy.own_prices());
    let rows = match model {
        Some(model) => rows_of(env, &prices, model)?,
        None => prices.in_force(),
    };
    match json {
        true => env.print_data(&show::json(&rows)),
        false => {
            let cells = show::cells(&rows).into_iter().map(|cells| (Style::Plain, cells.to_vec())).collect::<Vec<_>>();
            env.print(&(table(&COLUMNS, &cells, &query::page(env)) + LEGEND));
        }
    }
    error.map_or(Ok(ExitCode::SUCCESS), Err)
}

fn rows_of<'a>(env: &Environment, table: &'a Table, model: &str) -> Result<Vec<(&'a str, &'a Price)>> {
    let rows: Vec<_> = table.in_force().into_iter().filter(|(name, _)| *name == canonical(model)).collect();
    if !rows.is_empty() {
        return Ok(rows);
    }
    let file = pricing::path(env).unwrap_or_else(|| PathBuf::from(pricing::FILE));
    Err(Error::failed(format!(
        "there is no price for `{model}`: it is charged as the session's main model, or else 5 in and 25 out"
    ))
    .hint(format!("add a row for it to `{}`, then run `fusebox pricing check`", file.display())))
}

fn check(env: &Environment, file: Option<&Path>) -> Result<ExitCode> {
    let path = match file {
        Some(path) => path.to_path_buf(),
        None => pricing::path(env)
            .ok_or_else(|| Error::failed("there is no home folder to look for your pricing file in"))?,
    };
    let found = match files::text(&path, pricing::LARGEST) {
        Ok(json) => overrides::read(&json),
        Err(cause) if file.is_none() && cause.kind() == ErrorKind::NotFound => {
            env.print(&format!("`{}` is not there: the embedded prices are in force\n", path.display()));
            return Ok(ExitCode::SUCCESS);
        }
        Err(cause) => return Err(Error::file("read", &path, cause)),
    };
    report(env, &path, found)
}

fn report(env: &Environment, path: &Path, found: Overrides) -> Result<ExitCode> {
    if found.problems.is_empty() {
        env.print(&format!("`{}` is right: {}\n", path.display(), counted(found.rows.len() as u64, "row")));
        return Ok(ExitCode::SUCCESS);
    }
    let sentences = found.problems.iter().map(ToString::to_string);
    let (problems, kept) =
        (counted(found.problems.len() as u64, "problem"), counted(found.rows.len() as u64, "other row"));
    Err(Error::failed(format!("`{}` has {problems}:", path.display())).with_lines(sentences).hint(format!(
        "rows with a problem are left out ({kept} in force); `fusebox pricing show --json` prints rows in the right form"
    )))
}

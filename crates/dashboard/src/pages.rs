//! The pages, one file for each noun.

mod agent;
mod agent_actions;
mod alert_ways;
mod alerts;
mod audit;
mod bots;
mod bots_new;
mod desk;
mod entry;
mod glass;
mod jobs;
mod letters;
mod nodes;
mod people;
mod shelf;
mod stuck;
mod tenant;
mod tokens;
mod usage;
mod users;

use axum::Router;
use serde::Deserialize;

use crate::layout::encode;
use crate::state::Dashboard;

pub(crate) fn routes() -> Router<Dashboard> {
    Router::new()
        .merge(desk::routes())
        .merge(tenant::routes())
        .merge(agent::routes())
        .merge(agent_actions::routes())
        .merge(entry::routes())
        .merge(stuck::routes())
        .merge(alerts::routes())
        .merge(alert_ways::routes())
        .merge(bots::routes())
        .merge(bots_new::routes())
        .merge(people::routes())
        .merge(jobs::routes())
        .merge(letters::routes())
        .merge(audit::routes())
        .merge(shelf::routes())
        .merge(usage::routes())
        .merge(nodes::routes())
        .merge(users::routes())
        .merge(glass::routes())
        .merge(tokens::routes())
}

/// A page of a list, in the order of names.
#[derive(Deserialize)]
struct NamePage {
    #[serde(default)]
    after: String,
}

/// The form of a new object with a name.
#[derive(Deserialize)]
struct NameForm {
    name: String,
}

/// Returns the address of the next page of a list, if the list is full. The key of its last row begins that page.
fn next_page<T>(page: &str, rows: &[T], key: impl Fn(&T) -> &str) -> Option<String> {
    let last = rows.last().filter(|_| rows.len() >= nightdesk_office::LIST_ROWS)?;
    let joint = if page.contains('?') { '&' } else { '?' };
    Some(format!("{page}{joint}after={}", encode(key(last))))
}

//! Commands about data that agents share.

use std::time::Duration;

use anyhow::Context;
use clap::Subcommand;
use jiff::SignedDuration;
use nightdesk_shelf::{DataWrite, QueryFilters};
use nightdesk_types::{Clock, SystemClock};
use serde_json::{Map, Value};

use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::{self, CommandOutput};

#[derive(Debug, Subcommand)]
pub(crate) enum DataSubcommand {
    /// Search for data that contains all of the words. Without words, the newest entries are shown.
    #[command(
        after_help = "Example:\n  nightdesk data query --tenant acme blue kettle --filter domain_tags=kitchen"
    )]
    Query {
        /// The tenant of the data, by name or id.
        #[arg(long)]
        tenant: String,
        /// The words.
        words: Vec<String>,
        /// Maximum number of results.
        #[arg(long)]
        limit: Option<usize>,
        /// A further condition. A filter that the store cannot apply is refused.
        #[arg(long, value_name = "NAME=VALUE", value_parser = filter)]
        filter: Vec<(String, Value)>,
    },
    /// Show an entry.
    #[command(after_help = "Example:\n  nightdesk data read --tenant acme 5d0a…")]
    Read {
        /// The tenant of the data, by name or id.
        #[arg(long)]
        tenant: String,
        /// The entry's id.
        id: String,
    },
    /// Write an entry. An identical entry is stored once.
    #[command(
        after_help = "Example:\n  nightdesk data write --tenant acme 'The kettle is blue.' --tag kitchen"
    )]
    Write {
        /// The tenant of the data, by name or id.
        #[arg(long)]
        tenant: String,
        /// The entry's text.
        content: String,
        /// A tag of the entry.
        #[arg(long, value_name = "TAG")]
        tag: Vec<String>,
        /// An intended recipient.
        #[arg(long, value_name = "AGENT")]
        recipient: Vec<String>,
        /// The time that the entry is valid: 30s, 15m or 24h. Without it, unlimited.
        #[arg(long, value_parser = ui::span, value_name = "SPAN")]
        wanted_for: Option<Duration>,
    },
}

/// Parses a filter. A value that is valid JSON is read as JSON, any other as a text.
fn filter(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| format!("`{text}` is not a filter; write it like pinned=true"))?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok((name.to_owned(), value))
}

/// The members of an entry in a list.
const DATA_COLUMNS: &[&str] = &["id", "summary", "agent_id", "tags", "score"];

/// Runs a command about data.
pub(super) async fn run(
    desk: &DeskClient,
    command: DataSubcommand,
) -> anyhow::Result<CommandOutput> {
    match command {
        DataSubcommand::Query { tenant, words, limit, filter } => {
            let filters: Map<_, _> = filter.into_iter().collect();
            let query = QueryFilters { query: words.join(" "), limit, filters, ..<_>::default() };
            let request = ApiRequest::post(&["tenants", &tenant, "data", "query"])
                .with_body(serde_json::to_value(query)?);
            desk.list(request, DATA_COLUMNS).await
        }
        DataSubcommand::Read { tenant, id } => {
            let data = desk.call(ApiRequest::get(&["tenants", &tenant, "data", &id])).await?;
            let text = data["detail"].as_str().or_else(|| data["summary"].as_str());
            Ok(CommandOutput::Told { text: text.unwrap_or_default().to_owned(), data })
        }
        DataSubcommand::Write { tenant, content, tag, recipient, wanted_for } => {
            let write = DataWrite {
                content,
                tags: non_empty(tag),
                recipients: non_empty(recipient),
                expires_at: wanted_for.map(expiry_after).transpose()?.map(Some),
                metadata: None,
            };
            let request = ApiRequest::post(&["tenants", &tenant, "data"])
                .with_body(serde_json::to_value(write)?);
            Ok(CommandOutput::One(desk.call(request).await?))
        }
    }
}

fn non_empty(list: Vec<String>) -> Option<Vec<String>> {
    (!list.is_empty()).then_some(list)
}

/// Returns the end of a span that begins now.
fn expiry_after(span: Duration) -> anyhow::Result<i64> {
    let span = SignedDuration::try_from(span)?;
    let end = SystemClock::start()
        .now()
        .checked_add(span)
        .context("the time is too far in the future")?;
    Ok(end.as_second())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_filter_is_what_it_looks_like() {
        assert_eq!(filter("pinned=true").unwrap(), ("pinned".into(), json!(true)));
        assert_eq!(filter("vault=v").unwrap(), ("vault".into(), json!("v")));
        assert_eq!(filter(r#"domain_tags=["a","b"]"#).unwrap().1, json!(["a", "b"]));
        assert!(filter("pinned").is_err());
    }
}

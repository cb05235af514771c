//! `nightdesk notice`: shows the notices to a tenant.

use super::NoticeSubcommand;
use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::CommandOutput;

/// The members of a notice in a list.
const NOTICE_COLUMNS: &[&str] = &["at", "kind", "agent_id", "bot_id", "text"];

/// Runs a command about notices.
pub(super) async fn run(
    desk: &DeskClient,
    command: NoticeSubcommand,
) -> anyhow::Result<CommandOutput> {
    match command {
        NoticeSubcommand::List { tenant } => {
            desk.list(ApiRequest::get(&["tenants", &tenant, "notices"]), NOTICE_COLUMNS).await
        }
    }
}

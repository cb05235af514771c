//! `nightdesk agent webhook`: the URL to which the desk posts an agent's entries.

use serde_json::json;

use super::names::AgentArgs;
use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::CommandOutput;

/// Sets, removes or shows the webhook of an agent.
pub(super) async fn configure(
    desk: &DeskClient,
    whose: &AgentArgs,
    url: Option<String>,
    clear: bool,
) -> anyhow::Result<CommandOutput> {
    let path = whose.path(&["webhook"]);
    let request = match url {
        Some(url) => ApiRequest::post(&path).with_body(json!({ "url": url })),
        None if clear => ApiRequest::delete(&path),
        None => ApiRequest::get(&path),
    };
    Ok(CommandOutput::One(desk.call(request).await?))
}

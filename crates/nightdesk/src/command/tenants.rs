//! Commands about a tenant's keys, and the command that erases a tenant.

use anyhow::ensure;
use serde_json::json;

use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::CommandOutput;

/// Gives a tenant a new data key.
pub(super) async fn rotate_key(desk: &DeskClient, tenant: &str) -> anyhow::Result<CommandOutput> {
    let request = ApiRequest::post(&["tenants", tenant, "rotate-key"]);
    Ok(CommandOutput::One(desk.call(request).await?))
}

/// Erases a tenant permanently.
pub(super) async fn erase(
    desk: &DeskClient,
    tenant: &str,
    yes: bool,
) -> anyhow::Result<CommandOutput> {
    ensure!(
        yes,
        "tenant {tenant} would be erased with all its keys, bots, gateways and messages, and this \
         cannot be undone; repeat the command with --yes to confirm"
    );
    let request = ApiRequest::post(&["tenants", tenant, "erase"]);
    Ok(CommandOutput::One(desk.call(request.with_body(json!({ "confirm": tenant }))).await?))
}

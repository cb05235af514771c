//! Commands that create and list tenants and agents.

use super::PageArgs;
use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::CommandOutput;

/// The members of a tenant or an agent in a list.
const IDENTITY_COLUMNS: &[&str] = &["name", "id", "created_at"];

pub(super) async fn create_tenant(desk: &DeskClient, name: &str) -> anyhow::Result<CommandOutput> {
    let request = ApiRequest::put(&["admin", "tenants", name]);
    Ok(CommandOutput::One(desk.call(request).await?))
}

pub(super) async fn list_tenants(
    desk: &DeskClient,
    page: &PageArgs,
) -> anyhow::Result<CommandOutput> {
    let request = ApiRequest::get(&["tenants"]).with("after", &page.after);
    desk.list(request, IDENTITY_COLUMNS).await
}

pub(super) async fn create_agent(
    desk: &DeskClient,
    tenant: &str,
    name: &str,
) -> anyhow::Result<CommandOutput> {
    let request = ApiRequest::put(&["tenants", tenant, "agents", name]);
    Ok(CommandOutput::One(desk.call(request).await?))
}

pub(super) async fn list_agents(
    desk: &DeskClient,
    tenant: &str,
    page: &PageArgs,
) -> anyhow::Result<CommandOutput> {
    let request = ApiRequest::get(&["tenants", tenant, "agents"]).with("after", &page.after);
    desk.list(request, IDENTITY_COLUMNS).await
}

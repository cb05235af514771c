//! The users of a proof: operators, and an administrator for each of some tenants.

use std::net::SocketAddr;

use anyhow::Result;

use super::browser::DeskBrowser;
use crate::setup::{agent_name, tenant_name};

/// The users, each with a session.
#[derive(Debug)]
pub struct Visitors {
    /// The operators.
    pub operators: Vec<DeskBrowser>,
    /// The administrators of tenants.
    pub admins: Vec<TenantAdmin>,
}

/// The administrator of a tenant.
#[derive(Clone, Debug)]
pub struct TenantAdmin {
    /// The tenant's name.
    pub tenant: String,
    /// The name of an agent of the tenant that has a line.
    pub agent: String,
    /// The session.
    pub browser: DeskBrowser,
}

impl Visitors {
    /// Logs operators in by their links, and has so many administrators created: half of them of the first tenant of the
    /// cast, which is the largest, the others of a tenant each.
    pub async fn log_in(node: SocketAddr, links: &[String], count: usize) -> Result<Self> {
        let mut operators = Vec::with_capacity(links.len());
        for link in links {
            operators.push(DeskBrowser::log_in(node, link).await?);
        }
        let mut admins: Vec<TenantAdmin> = Vec::with_capacity(count);
        for (operator, nth) in operators.iter().cycle().zip(0..count) {
            let number = if nth % 2 == 0 { 0 } else { nth };
            let (tenant, agent) = (tenant_name(number), agent_name(number));
            // After the first login of a tenant's user only its own administrators create more.
            let first = admins.iter().find(|admin| admin.tenant == tenant);
            let creator = first.map_or(operator, |admin| &admin.browser);
            let page =
                creator.submit(&format!("/t/{tenant}/users"), "name=Admin&role=admin").await?;
            let browser = DeskBrowser::log_in(node, &page.html).await?;
            admins.push(TenantAdmin { tenant, agent, browser });
        }
        Ok(Self { operators, admins })
    }
}

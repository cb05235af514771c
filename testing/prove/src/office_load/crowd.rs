//! Fills the desk: many agents of many tenants, with entries, wakes and everything else that pages list.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, ensure};
use nightdesk_register::{BotDraft, Register};
use nightdesk_shelf::{SkillPatch, Skills};
use nightdesk_store_pg::Pg;
use nightdesk_types::{Actor, Quota, TenantId, TenantScope};
use nightdesk_vault::{Key, Vault};

use crate::cluster::Cluster;
use crate::platform::{Connection, write_body};
use crate::setup::{PLATFORM, SharedBot, with_store};
use crate::stage::DATABASE;
use crate::ui;

/// Name of the bot of each tenant with a crowd; the statements find the tenants by it.
const HANDLE: &str = "crowd";

/// Skills of the largest tenant, each with two versions.
const SKILLS: usize = 200;

/// Entries of the first agent that a node sealed, so that their pages show the message.
const SEALED: u64 = 2;

/// The size of a crowd.
#[derive(Clone, Copy, Debug)]
pub struct CrowdSize {
    /// Agents of all tenants together.
    pub agents: usize,
    /// Entries in their inboxes.
    pub entries: usize,
    /// Tenants besides the largest one.
    pub tenants: usize,
    /// Agents of the largest tenant.
    pub largest: usize,
}

/// The parts of a crowd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shares {
    /// Agents of the largest tenant.
    largest: usize,
    /// Agents of each other tenant.
    each: usize,
    /// Entries of each agent.
    entries: usize,
    /// Entries of the first agent of the largest tenant beside those.
    more: usize,
}

impl CrowdSize {
    fn shares(self) -> Result<Shares> {
        let Self { agents, entries, tenants, largest } = self;
        ensure!(tenants > 0 && largest > 0, "a crowd needs tenants and agents");
        ensure!(agents > largest, "the largest tenant has all agents");
        ensure!(entries >= agents, "give at least one entry for each agent");
        let each = (agents - largest) / tenants;
        let shares = Shares {
            largest: agents - each * tenants,
            each,
            entries: entries / agents,
            more: entries % agents,
        };
        Ok(shares)
    }
}

/// The filled desk.
#[derive(Debug)]
pub struct Crowd {
    /// The bot of the largest tenant.
    bot: SharedBot,
    /// A skill of that tenant, and its two versions, the newer one first.
    pub(super) skill: String,
    pub(super) versions: [String; 2],
}

impl Crowd {
    /// Fills the database. The largest tenant exists already.
    pub fn enter(
        cluster: &Cluster,
        vault: Vault,
        largest: TenantId,
        size: CrowdSize,
    ) -> Result<Self> {
        let shares = size.shares()?;
        ui::say(&format!("entering {} agents of {} tenants", size.agents, size.tenants + 1));
        let crowd = with_store(cluster, DATABASE, vault, async |pg, register| {
            for number in 0..size.tenants {
                let name = format!("crowd-{number:03}");
                let tenant = register.create_tenant(Actor::Operator, &name).await?;
                enter_place(register, tenant, size).await?;
            }
            let bot = enter_place(register, largest, size).await?;
            let (skill, versions) = fill_shelf(pg, TenantScope::for_tenant(largest)).await?;
            Ok(Self { bot, skill, versions })
        })?;
        let Shares { largest, each, entries, more } = shares;
        fill(cluster, include_str!("agents.sql"), &[(":largest", largest), (":each", each)])?;
        ui::say(&format!("entering {} entries", size.entries));
        fill(cluster, include_str!("inboxes.sql"), &[(":each", entries), (":more", more)])?;
        fill(cluster, include_str!("history.sql"), &[])?;
        cluster.ask(DATABASE, "vacuum analyze")?;
        cluster.ask(DATABASE, "checkpoint")?;
        Ok(crowd)
    }

    /// Returns the id of the bot of the largest tenant.
    pub(super) fn bot(&self) -> String {
        self.bot.bot.to_string()
    }

    /// Posts events for the first agent.
    pub(super) async fn post_sealed(&self, node: SocketAddr) -> Result<()> {
        let (mut connection, mut body) = (Connection::open(node).await?, Vec::new());
        for event in 0..SEALED {
            write_body(&mut body, 0, event)?;
            let status = connection.post(&self.bot, &body).await?;
            ensure!(status == 200, "an event for the crowd got {status}");
        }
        Ok(())
    }
}

/// Creates the bot of a tenant, and raises the tenant's quotas.
async fn enter_place(register: &Register, tenant: TenantId, size: CrowdSize) -> Result<SharedBot> {
    let scope = TenantScope::for_tenant(tenant);
    let key = "key of the crowd".to_owned();
    let draft = BotDraft {
        platform: PLATFORM.to_owned(),
        adapter: "scripted".to_owned(),
        handle: HANDLE.to_owned(),
        settings: serde_json::json!({}),
        key: Some(Key::new(key.clone())),
    };
    let (bot, path) = register.create_bot(scope, draft).await?;
    for quota in [Quota::Agents, Quota::Gateways, Quota::Grants, Quota::PendingEntries] {
        let allowed = i64::try_from(size.agents.max(size.entries))?;
        register.store().set_quota(scope, quota, allowed).await?;
    }
    Ok(SharedBot { bot, path, key })
}

/// Writes the skills of a tenant. Returns the name of the last one, and its versions.
async fn fill_shelf(pg: &Arc<Pg>, scope: TenantScope) -> Result<(String, [String; 2])> {
    let mut last = None;
    for number in 0..SKILLS {
        let name = format!("skill-{number:03}");
        let old = write_skill(pg, scope, &name, "morning").await?;
        let new = write_skill(pg, scope, &name, "evening").await?;
        last = Some((name, [new, old]));
    }
    last.context("there are no skills")
}

async fn write_skill(
    pg: &Arc<Pg>,
    scope: TenantScope,
    name: &str,
    greeting: &str,
) -> Result<String> {
    let source = format!(
        "# Skill: {name}\n# Status: Draft\n# Description: Says good {greeting}.\n\n\
         t:\n    emit(text=\"good {greeting}\")\n"
    );
    let written = pg.put_skill(scope, name, &source, &SkillPatch::default()).await?;
    let written = written.map_err(|refused| anyhow!("a skill was refused: {refused}"))?;
    Ok(written.version)
}

/// Runs statements after replacing the names of numbers.
fn fill(cluster: &Cluster, statements: &str, numbers: &[(&str, usize)]) -> Result<()> {
    let with_number =
        |text: String, (name, number): &(&str, usize)| text.replace(name, &number.to_string());
    let statements = numbers.iter().fold(statements.to_owned(), with_number);
    cluster.ask(DATABASE, &statements).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_a_crowd_are_the_whole_crowd() {
        let size = CrowdSize { agents: 99_000, entries: 1_000_000, tenants: 400, largest: 19_950 };
        let Shares { largest, each, entries, more } = size.shares().unwrap();

        assert_eq!(largest + 400 * each, 99_000);
        assert_eq!(99_000 * entries + more, 1_000_000);
        assert!((19_950..19_950 + 400).contains(&largest));
        for bad in [
            CrowdSize { tenants: 0, ..size },
            CrowdSize { largest: 99_000, ..size },
            CrowdSize { entries: 98_999, ..size },
        ] {
            assert!(bad.shares().is_err(), "{bad:?}");
        }
    }
}

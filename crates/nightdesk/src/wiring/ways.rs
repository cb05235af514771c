//! Opens the configured delivery ways of letters.

use anyhow::{Context, ensure};
use nightdesk_letters::{ConfiguredWay, DeliveryMethod, Outlet, Outlets, Party};
use nightdesk_outside::Outside;
use nightdesk_register::Register;
use nightdesk_types::limits::CONNECTOR_WAIT;
use tokio::time::timeout;

use crate::command::names;
use crate::config::{Config, WaySection};

/// Opens all ways. If a way's agent does not exist, the other ways still open: its letters go through its inbox until
/// the desk restarts, and an error is logged.
pub(super) async fn open(
    config: &Config,
    register: &Register,
    outside: &Outside,
) -> anyhow::Result<Outlets> {
    let mut ways = Vec::with_capacity(config.ways.len());
    for said in &config.ways {
        match find_agent(said, register).await {
            Ok((party, called)) => {
                ways.push((party, configured_way(said, party, called, outside)?));
            }
            Err(error) => log_bad_way(said, &error),
        }
    }
    Ok(ways.into_iter().collect())
}

fn log_bad_way(said: &WaySection, error: &anyhow::Error) {
    tracing::error!(
        "letters to {said} go through its inbox, because its way cannot be used: {error:#}"
    );
}

/// Checks that each agent exists and is reached by its way.
pub(crate) async fn check(
    config: &Config,
    register: &Register,
    outside: &Outside,
) -> anyhow::Result<()> {
    for said in &config.ways {
        let (party, called) = find_agent(said, register).await?;
        if let ConfiguredWay::Outlet(outlet) = configured_way(said, party, called, outside)? {
            check_way(said, &outlet).await?;
        }
    }
    Ok(())
}

/// Returns the agent of a way, and the agent's name.
async fn find_agent(said: &WaySection, register: &Register) -> anyhow::Result<(Party, String)> {
    let whose = names::AgentArgs { tenant: said.tenant.clone(), agent: said.agent.clone() };
    let (scope, agent) = whose.resolve(register).await.with_context(|| format!("ways: {said}"))?;
    let named = register.store().agents_called(scope, &agent.to_string()).await?;
    let called = named.into_iter().find(|named| named.id == agent).map(|named| named.name);
    Ok((Party { scope, agent }, called.unwrap_or_else(|| said.agent.clone())))
}

fn configured_way(
    said: &WaySection,
    party: Party,
    called: String,
    outside: &Outside,
) -> anyhow::Result<ConfiguredWay> {
    if said.inbox {
        return Ok(ConfiguredWay::Inbox);
    }
    let connector = said.open(party.scope.tenant(), &called, outside)?;
    Ok(ConfiguredWay::Outlet(Outlet { method: said.way()?, name: called, connector }))
}

/// Checks that a way leads to its agent.
async fn check_way(said: &WaySection, outlet: &Outlet) -> anyhow::Result<()> {
    let Outlet { method: way, name: called, connector } = outlet;
    let what = match way {
        DeliveryMethod::Road | DeliveryMethod::Webhook => {
            "its status_url does not respond with 200; check that it is up"
        }
        DeliveryMethod::FileDrop => {
            "its folder is not writable; create it, and let the desk write to it"
        }
        DeliveryMethod::Tmux => {
            "tmux has no such session; start it with `tmux new-session -d -s NAME`"
        }
    };
    let healthy = timeout(CONNECTOR_WAIT, connector.health_check()).await.unwrap_or(false);
    ensure!(healthy, "ways: {said}: {what}");
    let known = connector.list_agents().await?;
    ensure!(
        known.iter().any(|agent| agent.agent_id == *called),
        "ways: {said}: there is no folder `{called}` in its folder; create it"
    );
    Ok(())
}

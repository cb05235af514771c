//! Replaces each kind of key with the operator's own commands.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use nightdesk_types::limits::{ACCOUNT_KEPT_FOR, CAPABILITY_GONE_WITHIN};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::World;
use super::canary::CAPABILITY;
use super::load::{KIND, Load, follow_up, session};
use crate::crash_points;
use crate::setup;
use crate::stage::DATABASE;

/// Lifetime of a capability that is to expire.
const LENT_FOR: Duration = Duration::from_secs(2);

/// Replaces the vault's key. The command is killed once in the middle. Returns the number of rewrapped rows and the
/// duration.
pub fn vault_key(world: &mut World) -> Result<(u64, f64)> {
    let old = world.operator.vault_keys.last().context("there is no key")?.clone();
    let new = world.operator.new_vault_key();
    // First every node can open with the new key, then the new key seals.
    for keys in [[&old, &new], [&new, &old]] {
        world.operator.write_keys(&keys.map(String::as_str))?;
        world.keys_changed()?;
    }
    let began = Instant::now();
    let (variable, crash) = crash_points::environment("K23", 3);
    let dies = world.operator.run_with(&[(variable, crash.as_str())], &["key", "rotate", "--json"]);
    ensure!(dies.is_err(), "the rotation was to be killed");
    let other = "select count(distinct vault_key(wrapped)) from tenant_keys";
    ensure!(world.cluster.ask(DATABASE, other)?.trim() == "2", "it was not killed in the middle");
    let told = world.operator.run(&["key", "rotate", "--json"])?;
    let seconds = began.elapsed().as_secs_f64();
    world.operator.write_keys(&[&new])?;
    world.keys_changed()?;
    ensure!(world.cluster.ask(DATABASE, other)?.trim() == "1", "something was left");
    let rows = world.cluster.ask(DATABASE, "select count(*) from tenant_keys")?;
    ensure!(told["rewrapped"].as_u64().is_some_and(|rest| rest > 0), "{told}");
    Ok((rows.trim().parse().context("rows are counted")?, seconds))
}

/// Checks that a desk without a vault key names the missing one.
pub fn missing_vault_key(world: &World) -> Result<()> {
    let current = world.operator.vault_keys.last().context("there is no key")?.clone();
    let stranger = nightdesk_vault::Vault::new_key_file();
    world.operator.write_keys(&[&stranger])?;
    let told = world.operator.run(&["key", "rotate", "--json"]);
    world.operator.write_keys(&[&current])?;
    let Err(error) = told else { bail!("a desk without the key rotates") };
    let vault = nightdesk_vault::Vault::from_key_file(&current)?;
    let (said, missing) = (format!("{error:#}"), vault.sealing_key().to_string());
    ensure!(said.contains(&missing) && said.contains("old_key_files"), "it says not what: {said}");
    Ok(())
}

/// Replaces the data keys of every tenant in use.
pub fn data_keys(world: &World) -> Result<()> {
    let tenants = world.cast.members.iter().map(|member| member.tenant);
    for tenant in tenants.chain([world.cast.operator]) {
        world.operator.run(&["tenant", "rotate-key", &tenant.to_string(), "--json"])?;
    }
    let old = "select count(*) from gateway_secrets where key_id = 1";
    ensure!(world.cluster.ask(DATABASE, old)?.trim() == "0", "a secret was left with its old key");
    Ok(())
}

/// Replaces the secrets of gateways. The old ones stay valid, and the new ones are used at once.
pub fn gateway_secrets(world: &World, load: &Load) -> Result<()> {
    for number in 2..5 {
        let member = &world.cast.members[number];
        let (tenant, name) = (member.tenant.to_string(), member.gateway.as_str());
        let rotate = ["gateway", "rotate", "--tenant", &tenant, "--name", name, "--json"];
        let told = world.operator.run(&rotate)?;
        let secret = told["secret"].as_str().context("no secret was told")?.to_owned();
        load.members.write().unwrap_or_else(PoisonError::into_inner)[number].secret = secret;
    }
    Ok(())
}

/// Replaces a bot's key: it is stored, read by every node, then used by the platform.
pub async fn bot_key(world: &World, load: &Load) -> Result<String> {
    let key = nightdesk_register::new_secret().with(str::to_owned);
    let file = world.operator.file("bot.key", &key)?;
    let (tenant, bot) = (world.cast.operator.to_string(), world.cast.bots[0].bot.to_string());
    let rotate = ["bot", "rotate-key", "--tenant", &tenant, "--bot", &bot, "--key-file", &file];
    world.operator.run(&[rotate.as_slice(), &["--json"]].concat())?;
    sleep(ACCOUNT_KEPT_FOR + Duration::from_secs(1)).await;
    load.bot.write().unwrap_or_else(PoisonError::into_inner).key.clone_from(&key);
    sleep(Duration::from_secs(1)).await;
    Ok(key)
}

/// Checks that only the agent with a capability can use it, and that no usable part of it remains after its end.
pub async fn capabilities(world: &World, load: &Load) -> Result<()> {
    let (member, sister, stranger) = (5, 5 + world.cast.members.len() / 2, 6);
    let siblings = [member, sister].map(|number| world.cast.members[number].tenant);
    ensure!(siblings[0] == siblings[1], "two agents of one tenant are needed");
    let mut lines = Vec::new();
    for number in [member, sister, stranger] {
        lines.push(load.dial(number).await?);
    }
    // All three authors may write to the chat, which is not enough.
    for number in [sister, stranger] {
        load.post_in(&setup::chat(member), number, None).await?;
    }
    // The load uses its own capabilities meanwhile.
    let [long, short] = ["for long", "for a moment"].map(|how| format!("{CAPABILITY} {how}"));
    let lent = json!({ "kind": KIND, "value": long, "expires_in_s": 900 });
    load.post(member, Some(&lent)).await?;
    for (number, line) in lines.iter_mut().enumerate().skip(1) {
        refused(number, &follow_up(line, &session(member), "inbound").await?)?;
    }
    let own = follow_up(&mut lines[0], &session(member), "inbound").await?;
    ensure!(own["success"] == true, "whom it was lent to cannot use it: {own}");
    ensure!(world.sink.was_used(&long), "it was not used: {own}");
    let brief = json!({ "kind": KIND, "value": short, "expires_in_s": LENT_FOR.as_secs() });
    load.post(member, Some(&brief)).await?;
    sleep(LENT_FOR + Duration::from_millis(200)).await;
    let late = follow_up(&mut lines[0], &session(member), "inbound").await?;
    ensure!(late["note"].is_string(), "what came too late was not said plainly: {late}");
    ensure!(!world.sink.was_used(&short), "what had ended was used: {late}");
    gone(world, &world.cast.members[member].agent.to_string()).await
}

fn refused(number: usize, result: &Value) -> Result<()> {
    let is_so = result["error"] == "capability absent or expired";
    ensure!(is_so, "asker {number} was not refused: {result}");
    Ok(())
}

async fn gone(world: &World, agent: &str) -> Result<()> {
    let left = format!(
        "select count(*) from capabilities where agent_id = '{agent}' and octet_length(sealed) > 0"
    );
    let deadline = Instant::now() + CAPABILITY_GONE_WITHIN;
    while world.cluster.ask(DATABASE, &left)?.trim() != "0" {
        ensure!(Instant::now() < deadline, "a capability that ended is still there");
        sleep(Duration::from_millis(500)).await;
    }
    Ok(())
}

/// Erases a tenant: its gateway is refused, and no part of it that can be opened remains.
pub async fn erase(world: &World, load: &Load) -> Result<()> {
    let number = 7;
    let tenant = world.cast.members[number].tenant.to_string();
    drop(load.dial(number).await.context("before")?);
    world.operator.run(&["tenant", "erase", &tenant, "--yes", "--json"])?;
    ensure!(load.dial(number).await.is_err(), "a gateway of an erased tenant is served");
    for table in ["tenant_keys", "gateway_secrets", "capabilities", "inbox_entries"] {
        let left = format!("select count(*) from {table} where tenant_id = '{tenant}'");
        ensure!(world.cluster.ask(DATABASE, &left)?.trim() == "0", "{table} has something left");
    }
    Ok(())
}

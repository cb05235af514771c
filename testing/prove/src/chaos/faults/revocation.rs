//! Ends a node between the revocation of a gateway and the ring that closes the gateway's line on another node.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use nightdesk_gateway::{Line, Received, hello, token};
use nightdesk_protocol::Secret;
use nightdesk_protocol::close::Close;
use nightdesk_types::{Clock, SystemClock};
use nightdesk_vault::Key;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::chance::Dice;
use crate::chaos::asking::{self, Heard, Request};
use crate::chaos::node::{complete_command, run_command};
use crate::chaos::world::World;
use crate::crash_points::environment;

/// Time limit for the line of a revoked gateway to be closed without the ring, and of each other step.
const STEP_WAIT: Duration = Duration::from_secs(15);

/// Makes a node die after it revoked a gateway (K24). The gateway belongs to a tenant of its own, which gets no events.
pub(super) fn die(world: &mut World, number: &'static str, dice: &mut Dice) -> Result<()> {
    let name = format!("revoked-{}", dice.below(1_000_000_000));
    complete_command(&world.nodes, &["tenant", "create", &name])?;
    complete_command(&world.nodes, &["agent", "create", "--tenant", &name, "agent"])?;
    let create =
        ["gateway", "create", "--tenant", &name, "--agent", "agent", "--name", &name, "--json"];
    let created = run_command(&world.nodes, &create)?.stdout;
    let created: Value =
        serde_json::from_slice(&created).context("could not read the new gateway")?;
    let secret = created["secret"].as_str().context("the new gateway has no secret")?;
    let token = token(&name, &Key::new(secret.to_owned()), SystemClock::start().now());

    let dying = dice.below(world.nodes.len());
    let holding = (dying + 1) % world.nodes.len();
    let strike = world.strikes(number, world.nodes[dying].name());
    world.nodes[dying].kill()?;
    world.nodes[dying].start_with(&[environment(number, 1)])?;
    let (revoking, serving) = (world.nodes[dying].address(), world.nodes[holding].address());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("could not start a runtime")?.block_on(async {
        let mut line = timeout(STEP_WAIT, dial(serving, &token)).await??;
        deprovision(revoking, &token).await?;
        let closed = timeout(STEP_WAIT, wait_for_close(&mut line)).await;
        let code = closed.context("the line of a revoked gateway was not closed")?;
        ensure!(
            code == Close::Revoked.code(),
            "the line of a revoked gateway was closed with {code}"
        );
        Ok(())
    })?;
    world.nodes[dying].aborts_within(STEP_WAIT)?;
    world.nodes[dying].start()?;
    world.healed(strike);
    Ok(())
}

/// Dials, and waits until the line is taken.
async fn dial(node: SocketAddr, token: &Secret) -> Result<Line<TcpStream>> {
    let stream = TcpStream::connect(node).await.context("could not connect")?;
    let mut line = Line::open(stream, &node.to_string(), token.expose()).await?;
    line.send_frame(&hello("discord", "")).await?;
    match line.receive().await {
        Received::Text(_) => Ok(line),
        other @ (Received::Other | Received::Closed(_)) => bail!("the hello got {other:?}"),
    }
}

/// Removes the agent. The node dies before it answers.
async fn deprovision(node: SocketAddr, token: &Secret) -> Result<()> {
    let body = json!({});
    let (path, body) = ("/manage/deprovision", Some(&body));
    match asking::ask(node, Request { token: token.expose(), path, body, wait: STEP_WAIT }).await {
        Heard::Nothing => Ok(()),
        heard @ (Heard::Nobody | Heard::Answer(..)) => bail!("a node that should die: {heard:?}"),
    }
}

async fn wait_for_close(line: &mut Line<TcpStream>) -> u16 {
    loop {
        if let Received::Closed(closed) = line.receive().await {
            return closed.code;
        }
    }
}

//! Simulates an agent that opens its lines itself, one after the other.

use std::net::SocketAddr;
use std::time::Duration;

use nightdesk_judge::Event;
use nightdesk_types::Transport;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::line::{Line, Parting};
use super::polled::PolledLine;
use super::requests::{Caller, Calls};
use super::{Hall, Told};
use crate::chance::Dice;
use crate::chaos::manner::Manner;
use crate::chaos::plan::Plan;
use crate::gateway::socket::{NoLine, Socket};
use crate::setup::ALSO;

/// Timeout of a dial.
const DIAL_WAIT: Duration = Duration::from_secs(10);

/// Range of the delay after a failed dial.
const REST_MS: (u64, u64) = (100, 2_000);

/// The close code of a line that no close frame ended.
pub(super) const CUT: u16 = 1006;

/// Dials and holds lines until the run is over.
pub(super) async fn live(hall: &Hall, member: usize, manner: Manner) {
    let mut dice = Dice::of(hall.plan.seed, 1_000 + member as u64);
    let mut told = hall.told.subscribe();
    let (mut lines, mut failed) = (0_u64, 0_u32);
    // Deserted lines stay open to the end.
    let mut deserted = Vec::new();
    while !told.borrow_and_update().over {
        lines += 1;
        let manner = if told.borrow().settled { manner.settled() } else { manner };
        let dialled = Dialled { hall, member, conn: format!("{}#{lines}", Plan::agent(member)) };
        dialled.opens();
        let parting = held(dialled, manner, &mut dice, &mut told).await;
        failed = if parting.is_some() { 0 } else { failed + 1 };
        match parting {
            Some(Parting::Again(after)) => sleep(after).await,
            Some(Parting::Asleep(at_most)) => asleep(hall, member, &mut told, at_most).await,
            Some(Parting::Deserted(socket)) => deserted.push(socket),
            None => sleep(rest(failed, &mut dice)).await,
        }
    }
}

/// Opens a line and holds it to its end. Returns `None` if it did not open.
async fn held(
    dialled: Dialled<'_>,
    manner: Manner,
    dice: &mut Dice,
    told: &mut watch::Receiver<Told>,
) -> Option<Parting> {
    let Dialled { hall, member, .. } = dialled;
    let calls = match manner.transport() {
        Transport::Polling => Calls::Routes,
        Transport::Mcp => Calls::Tools,
        Transport::WebSocket | Transport::Webhook => {
            let socket = dialled.dial(dice).await?;
            return Some(Line::new(dialled, socket, manner, dice).hold(told).await);
        }
    };
    let caller = Caller { hall, member, calls };
    let line = PolledLine::open(dialled, caller, dice).await?;
    Some(line.hold(told).await)
}

/// A dial of an agent.
#[derive(Debug)]
pub(super) struct Dialled<'a> {
    pub(super) hall: &'a Hall,
    pub(super) member: usize,
    pub(super) conn: String,
}

impl Dialled<'_> {
    /// Returns the agent's name in histories.
    pub(super) fn agent(&self) -> String {
        Plan::agent(self.member)
    }

    /// Records the end of the line.
    pub(super) fn closed(&self, code: u16, reason: &str) {
        let (conn, reason) = (self.conn.clone(), reason.to_owned());
        self.hall.notes.note(Event::GwClose { conn, code, reason });
    }

    /// Records that the line is about to be opened.
    pub(super) fn opens(&self) {
        let gateway = self.hall.plan.cast.members[self.member].gateway.clone();
        let (conn, agent) = (self.conn.clone(), self.agent());
        self.hall.notes.note(Event::GwOpen { conn, gateway, agent });
    }

    async fn dial(&self, dice: &mut Dice) -> Option<Socket> {
        let member = &self.hall.plan.cast.members[self.member];
        let token = member.token(&self.hall.clock);
        let node = node(&self.hall.plan, self.member, dice);
        match timeout(DIAL_WAIT, Socket::dial(node, token.expose())).await {
            Ok(Ok(mut socket)) => {
                // The first hello was encoded, so encoding this one does not fail.
                drop(socket.speak_for(ALSO));
                return Some(socket);
            }
            Ok(Err(NoLine::Closed(code))) => self.closed(code, "closed before the greeting"),
            Ok(Err(no_line)) => self.closed(CUT, &no_line.to_string()),
            Err(_) => self.closed(CUT, "no line in time"),
        }
        None
    }
}

/// Returns mostly an agent's own node, sometimes another.
pub(super) fn node(plan: &Plan, member: usize, dice: &mut Dice) -> SocketAddr {
    let nodes = &plan.nodes;
    let other = if dice.percent(30) { dice.below(nodes.len()) } else { 0 };
    nodes[(member + other) % nodes.len()]
}

fn rest(failed: u32, dice: &mut Dice) -> Duration {
    let (least, most) = REST_MS;
    let most = most.min(least << failed.min(8));
    dice.between_ms(least / 2, most)
}

/// Sleeps until a wake call, or for the time that an agent without a wake target stays away.
pub(super) async fn asleep(
    hall: &Hall,
    member: usize,
    told: &mut watch::Receiver<Told>,
    at_most: Duration,
) {
    tokio::select! {
        () = hall.woken[member].notified() => {}
        _ = told.wait_for(|told| told.settled || told.over) => {}
        () = sleep(at_most) => {}
    }
}

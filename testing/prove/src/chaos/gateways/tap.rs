//! Records the bytes between the SDK and the desk, and changes nothing.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nightdesk_judge::Event;
use nightdesk_protocol::action::Action;
use nightdesk_protocol::{FromGateway, ToGateway};
use nightdesk_types::send::Op;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::agent::{self, CUT, Dialled};
use super::{Cut, Hall, duty};
use crate::chance::Dice;
use crate::chaos::plan::Plan;
use crate::gateway::wire::{self, Said};

/// Number of connection attempts to a desk that does not listen, and the interval between them. The SDK backs off after
/// each failed dial, and this run would end first.
const TRIES: u32 = 50;
const TRY_EVERY: Duration = Duration::from_millis(200);

/// Accepts every dial of the SDK and passes it on.
pub(super) async fn listen(hall: &std::sync::Arc<Hall>, member: usize, listener: &TcpListener) {
    let mut passing = JoinSet::new();
    let mut lines = 0_u64;
    while let Ok((stream, _)) = listener.accept().await {
        lines += 1;
        let conn = format!("{}#{lines}", Plan::agent(member));
        let hall = std::sync::Arc::clone(hall);
        passing.spawn(async move { pass(Dialled { hall: &hall, member, conn }, stream).await });
    }
}

async fn pass(dialled: Dialled<'_>, inner: TcpStream) {
    let seed = dialled.hall.plan.seed ^ dialled.conn.len() as u64;
    let mut dice = Dice::of(seed, dialled.member as u64);
    let Some(outer) = reached(&dialled, &mut dice).await else { return };
    dialled.opens();
    let mut told = dialled.hall.told.subscribe();
    told.mark_unchanged();
    let (inner_read, inner_write) = inner.into_split();
    let (outer_read, outer_write) = outer.into_split();
    let ended = tokio::select! {
        ended = heard(&dialled, outer_read, inner_write) => ended,
        ended = said(&dialled, inner_read, outer_write) => ended.map(|()| CUT),
        () = cut(&mut told, &mut dice) => Ok(CUT),
    };
    let reason = ended.as_ref().err().map_or_else(String::new, |error| format!("{error:#}"));
    dialled.closed(ended.unwrap_or(CUT), &reason);
}

/// Waits until this line is to be cut.
async fn cut(told: &mut tokio::sync::watch::Receiver<super::Told>, dice: &mut Dice) {
    while told.changed().await.is_ok() {
        if let Some(Cut::Reset(_)) = told.borrow_and_update().cuts(dice) {
            return;
        }
    }
}

async fn reached(dialled: &Dialled<'_>, dice: &mut Dice) -> Option<TcpStream> {
    for _ in 0..TRIES {
        let node = agent::node(&dialled.hall.plan, dialled.member, dice);
        if let Ok(stream) = TcpStream::connect(node).await {
            return stream.set_nodelay(true).ok().map(|()| stream);
        }
        sleep(TRY_EVERY).await;
    }
    None
}

/// Records the desk's frames, and passes them on. Returns the close code.
async fn heard(
    dialled: &Dialled<'_>,
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
) -> Result<u16> {
    let mut bytes = Bytes::default();
    loop {
        let new = bytes.more(&mut from).await?;
        while let Some((said, length)) = wire::first_frame(bytes.rest())? {
            match said {
                Said::Text(text) => note_heard(dialled, text),
                Said::Closed(code) => return Ok(code),
                Said::Ping(_) | Said::Pong => {}
            }
            bytes.done(length);
        }
        to.write_all(&new).await.context("the SDK takes nothing")?;
    }
}

fn note_heard(dialled: &Dialled<'_>, text: &[u8]) {
    let frame = ToGateway::decode(text.trim_ascii());
    if let Some(seen) = duty::entry_seen(&dialled.conn, &dialled.agent(), &frame, text.len()) {
        dialled.hall.notes.note(seen);
    }
    if let ToGateway::OutboundResult { request_id, result } = &frame {
        let request = request_id.as_str().to_owned();
        dialled.hall.notes.note(duty::answered(&dialled.conn, request, result));
    }
}

/// Records the SDK's frames, and passes them on.
async fn said(
    dialled: &Dialled<'_>,
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
) -> Result<()> {
    let mut bytes = Bytes::default();
    loop {
        let new = bytes.more(&mut from).await?;
        while let Some((text, length)) = wire::first_masked(bytes.rest()) {
            note_said(dialled, FromGateway::decode(text.trim_ascii()));
            bytes.done(length);
        }
        to.write_all(&new).await.context("the desk takes nothing")?;
    }
}

fn note_said(dialled: &Dialled<'_>, frame: FromGateway) {
    let (conn, agent) = (dialled.conn.clone(), dialled.agent());
    match frame {
        FromGateway::InboundAck { buffer_id } => {
            dialled.hall.notes.note(Event::GwAck { conn, agent, buffer_id });
        }
        FromGateway::Outbound(outbound) => {
            let request = outbound.request_id.as_str().to_owned();
            let Action::Send(send) = outbound.action else { return };
            let Op::Send { content: nonce, .. } = send.op else { return };
            let chat = send.chat_id;
            dialled.hall.notes.note(Event::OutReq { conn, agent, request, chat, nonce });
        }
        FromGateway::Hello(_)
        | FromGateway::Interrupt(_)
        | FromGateway::GoingIdle
        | FromGateway::Sessions(_)
        | FromGateway::Unknown { .. }
        | FromGateway::Malformed(_) => {}
    }
}

/// Bytes of one direction that are not a whole frame yet.
#[derive(Debug, Default)]
struct Bytes {
    held: Vec<u8>,
    /// True after the upgrade, when frames follow.
    upgraded: bool,
}

impl Bytes {
    /// Waits for more bytes, and returns the new ones.
    async fn more(&mut self, from: &mut OwnedReadHalf) -> Result<Vec<u8>> {
        let before = self.held.len();
        let read = from.read_buf(&mut self.held).await.context("could not read")?;
        ensure!(read > 0, "hung up");
        let new = self.held[before..].to_vec();
        if !self.upgraded
            && let Some(end) = wire::head_end(&self.held)
        {
            self.upgraded = true;
            self.held.drain(..end);
        }
        Ok(new)
    }

    fn rest(&self) -> &[u8] {
        if self.upgraded { &self.held } else { &[] }
    }

    fn done(&mut self, length: usize) {
        self.held.drain(..length);
    }
}

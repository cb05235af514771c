//! Holds one line: records its frames, and handles them according to the gateway's manner.

mod freeze;

use std::time::Duration;

use anyhow::{Result, anyhow};
use nightdesk_judge::{Event, GatewayState};
use nightdesk_protocol::{Frame, ToGateway};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::agent::{CUT, Dialled};
use super::duty::{Duty, OutgoingFrame};
use super::{Cut, Told};
use crate::chance::Dice;
use crate::chaos::manner::Manner;
use crate::gateway::socket::Socket;
use crate::gateway::wire::{self, Said};

/// Time that a gateway which goes idle waits for the confirmation.
const IDLE_WAIT: Duration = Duration::from_secs(2);

/// Time that an agent stays away without a wake call: longer than a call may take.
pub(super) const AWAY_MS: (u64, u64) = (40_000, 60_000);

/// An open line.
pub(super) struct Line<'a> {
    dialled: Dialled<'a>,
    socket: Socket,
    manner: Manner,
    dice: &'a mut Dice,
    duty: Duty,
    /// The time at which the gateway acts according to its manner.
    acts_at: Option<Instant>,
}

/// The step after a line's end.
pub(super) enum Parting {
    /// Dial again, after this delay.
    Again(Duration),
    /// Sleep until a wake call, or for this time.
    Asleep(Duration),
    /// Dial again at once, with this line still open.
    Deserted(Socket),
}

/// Close code and reason of a line's end.
struct Ended(u16, String);

impl<'a> Line<'a> {
    pub(super) fn new(
        dialled: Dialled<'a>,
        socket: Socket,
        manner: Manner,
        dice: &'a mut Dice,
    ) -> Self {
        let acts_at = lasts(manner, dice).map(|lasts| Instant::now() + lasts);
        Self { dialled, socket, manner, dice, duty: Duty::default(), acts_at }
    }

    /// Holds the line until either side ends it.
    pub(super) async fn hold(mut self, told: &mut watch::Receiver<Told>) -> Parting {
        loop {
            if let Some(manner) = freeze::freeze(&mut self, told).await {
                return self.part(manner);
            }
            if let Err(Ended(code, reason)) = self.deal().await {
                return self.cut(code, &reason);
            }
            tokio::select! {
                heard = self.socket.hear() => if let Err(error) = heard {
                    return self.cut(CUT, &format!("{error:#}"));
                },
                () = until(self.duty.due_at()) => {}
                () = until(self.acts_at) => if let Some(manner) = self.act().await {
                    return self.part(manner);
                },
                _ = told.changed() => if let Some(manner) = self.told(*told.borrow_and_update()) {
                    return self.part(manner);
                },
            }
        }
    }

    /// Executes the command to all gateways. Returns a manner if the line ends.
    fn told(&mut self, told: Told) -> Option<Manner> {
        if told.over || told.settled && self.manner.is_odd() {
            return Some(Manner::Redials);
        }
        if told.settled {
            self.manner = Manner::Normal;
            self.duty.hurry();
        }
        told.cuts(self.dice).map(|cut| match cut {
            Cut::Reset(_) => Manner::Redials,
            Cut::Sleep(_) => Manner::Leaves,
        })
    }

    /// Handles everything that was received or is due.
    async fn deal(&mut self) -> Result<(), Ended> {
        let mut begun = 0;
        let heard = std::mem::take(&mut self.socket.heard);
        while let Some((said, length)) = wire::first_frame(&heard[begun..]).map_err(broken)? {
            match said {
                Said::Text(text) => self.text(text),
                Said::Ping(payload) => wire::put_pong(&mut self.socket.saying, payload),
                Said::Pong => {}
                Said::Closed(code) => return Err(Ended(code, "by the desk".to_owned())),
            }
            begun += length;
        }
        self.socket.heard = heard[begun..].to_vec();
        self.duty.acks_due(&self.dialled, self.manner);
        self.duty.replies_due(&self.dialled);
        for outgoing in self.duty.take_outgoing() {
            let saying = &mut self.socket.saying;
            match outgoing {
                OutgoingFrame::Ack(id) => wire::put_ack(saying, id.as_bytes()),
                OutgoingFrame::Frame(frame) => wire::put_text(saying, frame.as_str().as_bytes()),
            }
        }
        self.socket.say().await.map_err(broken)
    }

    fn text(&mut self, text: &[u8]) {
        let frame = ToGateway::decode(text.trim_ascii());
        self.duty.seen(&self.dialled, &frame, text.len());
        self.duty.owed(&self.dialled, &frame, self.manner, self.dice);
        self.duty.replies(&self.dialled, &frame, self.dice);
        self.duty.answers(&self.dialled, &frame);
        self.duty.follows(&self.dialled, &frame, self.dice);
    }

    /// Acts according to the manner, if it is time. Returns a manner if the line ends.
    async fn act(&mut self) -> Option<Manner> {
        self.acts_at = lasts(self.manner, self.dice).map(|lasts| Instant::now() + lasts);
        if self.manner == Manner::Freezes {
            self.state(GatewayState::Frozen);
            sleep(self.dice.between_ms(1_000, 4_000)).await;
            self.state(GatewayState::Thawed);
            return None;
        }
        if self.manner == Manner::Idles {
            self.goes_idle().await;
        }
        Some(self.manner)
    }

    /// Sends that it goes idle, and works as before until the desk confirms it.
    async fn goes_idle(&mut self) {
        let known = async {
            self.says_idle().await?;
            while !self.duty.idle_known() {
                self.socket.hear().await?;
                self.deal().await.map_err(|Ended(_, reason)| anyhow!(reason))?;
            }
            anyhow::Ok(())
        };
        // If the line is gone, the next step sees it.
        drop(timeout(IDLE_WAIT, known).await);
    }

    async fn says_idle(&mut self) -> Result<()> {
        self.state(GatewayState::Idle);
        wire::put_text(&mut self.socket.saying, Frame::going_idle().as_str().as_bytes());
        self.socket.say().await
    }

    fn state(&self, what: GatewayState) {
        self.dialled.hall.notes.note(Event::GwState { agent: self.dialled.agent(), what });
    }

    /// Ends the line as a gateway of this manner does.
    fn part(self, manner: Manner) -> Parting {
        if manner == Manner::Deserts {
            self.noted(CUT, "deserted");
            return Parting::Deserted(self.socket);
        }
        let parting = if manner == Manner::Leaves {
            Parting::Asleep(self.dice.between_ms(AWAY_MS.0, AWAY_MS.1))
        } else {
            Parting::Again(Duration::from_secs(u64::from(manner == Manner::Idles)))
        };
        self.over(CUT, "by the gateway", parting)
    }

    fn over(self, code: u16, reason: &str, parting: Parting) -> Parting {
        self.noted(code, reason);
        self.socket.reset();
        parting
    }

    fn noted(&self, code: u16, reason: &str) {
        self.duty.left_over(&self.dialled);
        self.dialled.closed(code, reason);
    }

    /// Handles a line that the desk or the network ended.
    fn cut(self, code: u16, reason: &str) -> Parting {
        let rest = self.dice.between_ms(20, 300);
        self.over(code, reason, Parting::Again(rest))
    }
}

/// Returns the time after which a gateway of this manner misbehaves.
fn lasts(manner: Manner, dice: &mut Dice) -> Option<Duration> {
    match manner {
        Manner::Redials => Some(Duration::from_millis(100)),
        Manner::Freezes | Manner::Idles | Manner::Leaves | Manner::Deserts => {
            Some(dice.between_ms(2_000, 6_000))
        }
        Manner::Normal
        | Manner::Sdk
        | Manner::AcksTwice
        | Manner::AcksLate
        | Manner::AcksUnknown
        | Manner::Stock
        | Manner::NeverAcks
        | Manner::Polls
        | Manner::PollsByMcp
        | Manner::Posted => None,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn broken(error: anyhow::Error) -> Ended {
    Ended(CUT, format!("{error:#}"))
}

/// Waits until a moment, or for ever.
pub(super) async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

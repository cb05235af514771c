//! One line: what comes is noted, and dealt with as the gateway's manner is.

mod freeze;

use std::time::Duration;

use anyhow::{Result, anyhow};
use nightdesk_judge::{Event, GatewayState};
use nightdesk_protocol::{Frame, ToGateway};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::agent::{CUT, Dialled};
use super::duty::Duty;
use super::{Cut, Told};
use crate::chance::Dice;
use crate::chaos::manner::Manner;
use crate::gateway::socket::Socket;
use crate::gateway::wire::{self, Said};

/// How long a gateway that goes idle waits to hear that this is known.
const IDLE_WAIT: Duration = Duration::from_secs(2);

/// How long an agent stays away that nobody calls: longer than it may take to be called.
const AWAY_MS: (u64, u64) = (40_000, 60_000);

/// A line that is held.
pub(super) struct Line<'a> {
    dialled: Dialled<'a>,
    socket: Socket,
    manner: Manner,
    dice: &'a mut Dice,
    duty: Duty,
    /// When the gateway does what its manner is.
    acts_at: Option<Instant>,
}

/// What comes after a line.
pub(super) enum Parting {
    /// The next one, after a while.
    Again(Duration),
    /// Sleep, until somebody calls or for this long.
    Asleep(Duration),
    /// The next one at once, this one still open.
    Deserted(Socket),
}

/// Why a line ended.
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

    /// Holds it until it ends, whoever ends it.
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

    /// Does what all were told; answers if that ends the line.
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

    /// Deals with everything that came and that is due.
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
        self.duty.acks_due(&self.dialled, self.manner, &mut self.socket.saying);
        self.duty.replies_due(&self.dialled, &mut self.socket.saying);
        self.socket.say().await.map_err(broken)
    }

    fn text(&mut self, text: &[u8]) {
        let frame = ToGateway::decode(text.trim_ascii());
        self.duty.seen(&self.dialled, &frame, text.len());
        self.duty.owed(&self.dialled, &frame, self.manner, self.dice);
        self.duty.replies(&self.dialled, &frame, self.dice);
        self.duty.answers(&self.dialled, &frame, &mut self.socket.saying);
        self.duty.follows(&self.dialled, &frame, self.dice, &mut self.socket.saying);
    }

    /// Does what the manner is, if it is time; answers if that ends the line.
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

    /// Says that it goes idle, and goes on as always until the desk knows.
    async fn goes_idle(&mut self) {
        let known = async {
            self.says_idle().await?;
            while !self.duty.idle_known() {
                self.socket.hear().await?;
                self.deal().await.map_err(|Ended(_, reason)| anyhow!(reason))?;
            }
            anyhow::Ok(())
        };
        // If the line is gone, whatever comes next sees that.
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

    /// The desk or the network ended it.
    fn cut(self, code: u16, reason: &str) -> Parting {
        let rest = self.dice.between_ms(20, 300);
        self.over(code, reason, Parting::Again(rest))
    }
}

/// How long a gateway of a manner is quiet before it acts up.
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
        | Manner::NeverAcks => None,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn broken(error: anyhow::Error) -> Ended {
    Ended(CUT, format!("{error:#}"))
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

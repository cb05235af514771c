//! Simulates a Discord guild with a few channels, and people who write there and privately to the bot.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, Result};
use nightdesk_fake_discord::{FakeDiscord, Mark, Order, Settings, Socket};
use nightdesk_judge::{Event, Sock, monotonic_ns};
use serde_json::json;
use tokio::time::sleep;

use super::people::{Person, Unconfirmed, pace};
use super::{Hall, LOOK_EVERY, Standing, Whereabouts};
use crate::chance::Dice;

/// The part before the first dot encodes the bot's id, 4242.
pub(super) const TOKEN: &str = "NDI0Mg.Gstreet.the-key-of-the-desk-on-the-street";
pub(super) const BOT: u64 = 4_242;

/// A program that also writes.
const PROGRAM: (&str, u64) = ("NDI0Mw.Gstreet.the-key-of-another", 4_243);

const STRANGER: u64 = 800_000;
const FIRST_PERSON: u64 = 900_000;
const GUILD: u64 = 70;
const FIRST_CHANNEL: u64 = 500;
const CHANNELS: usize = 8;

/// Heartbeat interval for the desk: each heartbeat confirms the stored events.
const BEAT_EVERY: Duration = Duration::from_secs(2);

/// The close code after which a session can be resumed.
const GOES_ON: u16 = 4_000;

/// The street's Discord.
pub(super) struct Discord {
    fake: FakeDiscord,
    /// Start time of the fake.
    began_ns: u64,
    unconfirmed: Unconfirmed<Mark>,
}

/// Returns the Discord id of a member's person.
pub(super) fn person(member: usize) -> u64 {
    FIRST_PERSON + member as u64
}

impl Discord {
    pub(super) async fn open() -> Result<Self> {
        let settings = Settings { heartbeat_every: BEAT_EVERY, ..Settings::default() };
        let began_ns = monotonic_ns();
        let fake = FakeDiscord::start_with(settings).await.context("could not open Discord")?;
        fake.bot(TOKEN, BOT, "desk");
        fake.bot(PROGRAM.0, PROGRAM.1, "program");
        Ok(Self { fake, began_ns, unconfirmed: Unconfirmed::default() })
    }

    /// Creates all people.
    pub(super) fn enter(&self, hall: &Hall) {
        let people = hall.street.members.iter().map(|member| person(*member));
        let people: Vec<u64> = people.chain([STRANGER]).collect();
        for id in &people {
            self.fake.person(*id, &format!("p{id}"));
        }
        let members = people.iter().chain([&PROGRAM.1]);
        let channels = (0..CHANNELS).map(|nth| FIRST_CHANNEL + nth as u64);
        self.fake.guild(&json!({
            "id": GUILD.to_string(), "name": "Street", "owner_id": "1",
            "members": members.map(|id| json!({ "user": { "id": id.to_string() }, "roles": [] }))
                .collect::<Vec<_>>(),
            "channels": channels.map(|id| json!({ "id": id.to_string(), "name": format!("c{id}") }))
                .collect::<Vec<_>>(),
        }));
        self.fake.join(TOKEN, GUILD);
    }

    /// Writes messages until the stop command.
    pub(super) async fn write(self: Arc<Self>, hall: Arc<Hall>) {
        let Some(mut pace) = pace(hall.street.rates.discord) else { return };
        let mut dice = Dice::of(hall.plan.seed, 70_000);
        for number in 0_u64.. {
            pace.tick().await;
            if hall.stopping.load(Ordering::Relaxed) {
                return;
            }
            let (who, id, channel) = self.next(&hall, number, &mut dice);
            let nonce = format!("d{number}");
            hall.writes(who, (hall.street.discord, &channel.to_string()), (&nonce, number));
            let mark = self.fake.say_marked(id, channel, &format!("{nonce} words on the street"));
            self.unconfirmed.add(mark, nonce);
        }
    }

    /// Returns the next author, with the id there and the channel. At first each person writes to the bot in private: a
    /// desk that lost its session reads the channels that it knows, and nothing lists private ones.
    fn next(&self, hall: &Hall, number: u64, dice: &mut Dice) -> (Person, u64, u64) {
        let nth = usize::try_from(number).unwrap_or(usize::MAX);
        if let Some(member) = hall.street.members.get(nth) {
            let id = person(*member);
            return (Person::Of(*member), id, self.fake.direct(BOT, id));
        }
        let who = Person::next(hall, dice);
        let (id, channel) = self.place(who, dice);
        (who, id, channel)
    }

    /// Returns the channel and the author of a message: a guild channel, or a private one with the bot.
    fn place(&self, who: Person, dice: &mut Dice) -> (u64, u64) {
        let channel = FIRST_CHANNEL + dice.below(CHANNELS) as u64;
        let id = match who {
            Person::Of(member) => person(member),
            Person::Stranger => STRANGER,
            Person::Program => return (PROGRAM.1, channel),
        };
        let channel = if dice.percent(50) { channel } else { self.fake.direct(BOT, id) };
        (id, channel)
    }

    pub(super) fn end_session(&self) {
        self.fake.order(Order::Invalid { resumable: false });
    }

    /// Records the desk's actions.
    #[expect(clippy::infinite_loop, reason = "the owner of its task ends it with the street")]
    pub(super) async fn watch(self: Arc<Self>, hall: Arc<Hall>) {
        let mut seen = Seen::default();
        loop {
            self.unconfirmed.confirmed(&hall, &self.fake.confirmed());
            seen.look(&self.fake, &hall);
            sleep(LOOK_EVERY).await;
        }
    }

    pub(super) fn standing(&self) -> Standing {
        let at = Whereabouts {
            api: self.fake.url(),
            gateway: self.fake.gateway_url(),
            public_key: self.fake.public_key(TOKEN),
            telegram: String::new(),
        };
        let (sockets, resumes) = (self.fake.sockets(), self.fake.resumes());
        let ns = |at: Duration| self.began_ns + u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
        let by_desk = || sockets.iter().filter(|socket| socket.closed_by_client);
        let hung_up = by_desk().filter(|socket| socket.close_code == Some(GOES_ON)).count();
        let ended = |socket: &&Socket| matches!(socket.close_code, Some(1_000 | 1_001));
        Standing {
            at,
            accepted_ns: sockets.iter().filter_map(|socket| socket.began).map(ns).collect(),
            closed_ns: sockets.iter().filter_map(|socket| socket.closed).map(ns).collect(),
            session: sockets
                .iter()
                .rev()
                .find_map(|socket| socket.session.clone())
                .unwrap_or_default(),
            identifies: self.fake.identifies().len(),
            resumes: resumes.iter().filter(|resume| resume.is_taken).count(),
            hung_up,
            ended: by_desk().filter(ended).count(),
            ..Standing::default()
        }
    }
}

/// Desk actions that are recorded so far.
#[derive(Default)]
struct Seen {
    sockets: Vec<Socket>,
    calls: usize,
    identifies: usize,
    resumes: usize,
}

impl Seen {
    fn look(&mut self, fake: &FakeDiscord, hall: &Hall) {
        self.look_at_sockets(fake, hall);
        for call in fake.calls_after(self.calls) {
            self.calls += 1;
            let is_said = call.route == "POST /channels/{}/messages" && call.answered.0 == 200;
            let chat = call.path.split('/').nth(2).filter(|_| is_said);
            let text = call.answered.1["content"].as_str();
            if let (Some(chat), Some(text)) = (chat, text) {
                hall.hears(hall.street.discord, chat, text);
            }
        }
    }

    fn look_at_sockets(&mut self, fake: &FakeDiscord, hall: &Hall) {
        let note = |socket: String, what| {
            let (bot, shard) = (hall.street.discord.to_string(), "0".to_owned());
            hall.notes.note(Event::PlatSock { bot, shard, socket, what });
        };
        let sockets = fake.sockets();
        for (number, socket) in sockets.iter().enumerate() {
            let (name, before) = (format!("s{number}"), self.sockets.get(number));
            if before.is_none() {
                note(name.clone(), Sock::Open);
            }
            if before.map_or(0, |before| before.heartbeats) < socket.heartbeats {
                note(name.clone(), Sock::Heartbeat);
            }
            if socket.closed.is_some() && before.is_none_or(|before| before.closed.is_none()) {
                note(name, Sock::Close);
            }
        }
        self.sockets = sockets;
        let (identifies, resumes) = (fake.identifies().len(), fake.resumes().len());
        (self.identifies..identifies)
            .for_each(|nth| note(format!("identify-{nth}"), Sock::Identify));
        (self.resumes..resumes).for_each(|nth| note(format!("resume-{nth}"), Sock::Resume));
        (self.identifies, self.resumes) = (identifies, resumes);
    }
}

//! Handles the frames of a client.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Kind, Out, at_gateway};
use crate::world::{World, number};

/// Rate limit of a client's frames.
const FRAMES_MAX: usize = 120;
const FRAMES_WINDOW: Duration = Duration::from_mins(1);

/// Maximum length of a frame.
const FRAME_BYTES_MAX: usize = 4_096;

const UNKNOWN_OP: u16 = 4001;
const NOT_READ: u16 = 4002;
const NOT_IDENTIFIED: u16 = 4003;
const TOO_MANY: u16 = 4008;

impl World {
    /// Handles a frame of a client.
    pub(crate) fn hear(&mut self, wire: usize, text: &[u8]) {
        if self.is_too_often(wire) {
            return self.gateway.close(wire, TOO_MANY);
        }
        let frame = serde_json::from_slice::<Value>(text).ok();
        let frame = frame.filter(|_| text.len() <= FRAME_BYTES_MAX);
        let Some((frame, op)) =
            frame.and_then(|frame| Some((frame["d"].clone(), number(&frame["op"])?)))
        else {
            return self.gateway.close(wire, NOT_READ);
        };
        let has_session = self.gateway.sessions.values().any(|session| session.wire == Some(wire));
        match op {
            1 => self.beat(wire, &frame),
            2 => self.identify(wire, &frame, has_session),
            6 => self.resume(wire, &frame),
            3 | 4 | 8 if !has_session => self.gateway.close(wire, NOT_IDENTIFIED),
            3 | 4 => {}
            8 => self.tell_members(wire, &frame),
            _ => self.gateway.close(wire, UNKNOWN_OP),
        }
    }

    fn is_too_often(&mut self, wire: usize) -> bool {
        let now = self.now();
        let Some(wire) = self.gateway.wires.get_mut(wire) else { return false };
        wire.heard.retain(|at| now.saturating_sub(*at) < FRAMES_WINDOW);
        wire.heard.push_back(now);
        wire.heard.len() > FRAMES_MAX
    }

    fn beat(&mut self, wire: usize, seq: &Value) {
        let now = self.now();
        let fault = at_gateway(&mut self.faults, |kind| *kind == Kind::NoAck);
        let Some(one) = self.gateway.wires.get_mut(wire) else { return };
        one.socket.heartbeats += 1;
        one.socket.last_heartbeat = Some(now);
        one.socket.last_heartbeat_seq = number(seq);
        if fault.is_none() {
            self.gateway.send(wire, Out::Frame(json!({ "op": 11 })));
        }
    }

    /// Sends all members of a guild at once.
    fn tell_members(&mut self, wire: usize, asked: &Value) {
        let session = self.gateway.sessions.values().find(|session| session.wire == Some(wire));
        let Some(session) = session.map(|session| session.id.clone()) else { return };
        let Some(guild) = number(&asked["guild_id"]) else { return };
        let members = self.guilds.get(&guild).map(|guild| guild.members.values().cloned());
        let members: Vec<Value> = members.into_iter().flatten().collect();
        let mut chunk = json!({
            "guild_id": guild.to_string(), "members": members, "chunk_index": 0, "chunk_count": 1,
        });
        if !asked["nonce"].is_null() {
            chunk["nonce"] = asked["nonce"].clone();
        }
        self.dispatch(&session, "GUILD_MEMBERS_CHUNK", &chunk);
    }
}

//! Answers queries of programs.

use std::time::Duration;

use serde_json::{Value, json};

use crate::gateway::{Identify, Resume, Socket, overlap};
use crate::world::interactions::Interaction;
use crate::world::{Called, World};

/// Answers a query, if it is known. Times are in milliseconds since the fake began.
pub(super) fn tell(world: &World, what: &str) -> Option<Value> {
    let gateway = &world.gateway;
    let sockets = || gateway.wires.iter().map(|wire| wire.socket.clone());
    Some(match what {
        "calls" => world.calls.iter().map(call).collect(),
        "identifies" => gateway.identifies.iter().map(identify).collect(),
        "resumes" => gateway.resumes.iter().map(resume).collect(),
        "sockets" => sockets().map(|one| socket(&one)).collect(),
        "overlap" => ms(overlap(&sockets().collect::<Vec<_>>())),
        "interactions" => world.interactions.values().map(interaction).collect(),
        "messages" => world.messages.values().cloned().collect(),
        _ => return None,
    })
}

fn ms(span: Duration) -> Value {
    json!(u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}

fn call(call: &Called) -> Value {
    json!({
        "at": ms(call.at), "token": call.token, "route": call.route, "path": call.path,
        "asked": call.asked, "status": call.answered.0, "answered": call.answered.1,
    })
}

fn identify(one: &Identify) -> Value {
    json!({
        "at": ms(one.at), "token": one.token, "shard": [one.shard.0, one.shard.1],
        "intents": one.intents, "is_too_soon": one.is_too_soon,
    })
}

fn resume(one: &Resume) -> Value {
    json!({
        "at": ms(one.at), "session": one.session, "seq": one.seq, "is_taken": one.is_taken,
        "at_resume_url": one.at_resume_url,
    })
}

fn socket(one: &Socket) -> Value {
    json!({
        "at_resume_url": one.at_resume_url, "opened": ms(one.opened), "token": one.token,
        "session": one.session,
        "shard": one.shard.map(|(shard, shards)| [shard, shards]), "began": one.began.map(ms),
        "heartbeats": one.heartbeats, "last_heartbeat": one.last_heartbeat.map(ms),
        "last_heartbeat_seq": one.last_heartbeat_seq, "closed": one.closed.map(ms),
        "close_code": one.close_code, "closed_by_client": one.closed_by_client,
    })
}

fn interaction(one: &Interaction) -> Value {
    json!({
        "id": one.id.to_string(), "token": one.token, "channel": one.channel.to_string(),
        "at": ms(one.at), "answered": one.answered, "said": one.said, "is_ended": one.is_ended,
    })
}

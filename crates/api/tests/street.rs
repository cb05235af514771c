//! The public routes, from outside: the desk as a platform, a gateway and a visitor see it.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

#[path = "street/stopping.rs"]
mod stopping;
#[path = "street/door.rs"]
mod door;
#[path = "street/callers.rs"]
mod callers;
#[path = "street/line.rs"]
mod line;
#[path = "street/stops.rs"]
mod stops;
#[path = "street/polling.rs"]
mod polling;
#[path = "street/posting.rs"]
mod posting;
#[path = "street/linking.rs"]
mod linking;
#[path = "street/managing.rs"]
mod managing;
#[path = "street/explaining.rs"]
mod explaining;
#[path = "street/cases.rs"]
mod cases;
#[path = "street/isolation.rs"]
mod isolation;
#[path = "street/audit.rs"]
mod audit;
#[path = "street/office.rs"]
mod office;
#[path = "street/openapi.rs"]
mod openapi;
#[path = "street/rates.rs"]
mod rates;
#[path = "street/author_rate.rs"]
mod author_rate;
#[path = "street/lost_commits.rs"]
mod lost_commits;
#[path = "street/bodies.rs"]
mod bodies;
#[path = "street/guard.rs"]
mod guard;
#[path = "street/sends.rs"]
mod sends;
#[path = "street/media.rs"]
mod media;
#[path = "street/media_memory.rs"]
mod media_memory;
#[path = "street/shelf.rs"]
mod shelf;
#[path = "street/own_messages.rs"]
mod own_messages;
#[path = "street/presses.rs"]
mod presses;
#[path = "street/follow_up.rs"]
mod follow_up;
#[path = "street/waking.rs"]
mod waking;
#[path = "street/firing.rs"]
mod firing;
#[path = "street/hooks.rs"]
mod hooks;
#[path = "street/slow.rs"]
mod slow;
#[path = "street/smuggling.rs"]
mod smuggling;
#[path = "street/oauth.rs"]
mod oauth;
#[path = "street/enrol.rs"]
mod enrol;
#[path = "street/provision.rs"]
mod provision;
#[path = "street/sessions.rs"]
mod sessions;
#[path = "street/canary.rs"]
mod canary;
#[path = "street/chat.rs"]
mod chat;
#[path = "street/letters.rs"]
mod letters;
#[path = "street/letters_kept.rs"]
mod letters_kept;
#[path = "street/mcp.rs"]
mod mcp;
#[path = "street/agent_cron.rs"]
mod agent_cron;

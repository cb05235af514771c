//! The targets, in the order of the list in `docs/promises.md`.

mod access_token;
mod address_judge;
mod adapters;
mod bus_hint;
mod discord_gateway;
mod discord_interaction;
mod dns_answers;
mod history;
mod http_request;
mod lease_row;
mod letter_address;
mod line_frames;
mod manage_body;
mod media_head;
mod reach_policy;
mod schedule_body;
mod session_key;
mod telegram_update;
mod tenant_url;
mod upgrade_token;
mod vault_blob;

use crate::FuzzTarget;

/// All targets.
pub const TARGETS: [FuzzTarget; 19] = [
    FuzzTarget { name: "discord-interaction", run: discord_interaction::run },
    FuzzTarget { name: "discord-gateway", run: discord_gateway::run },
    FuzzTarget { name: "upgrade-token", run: upgrade_token::run },
    FuzzTarget { name: "line-frames", run: line_frames::run },
    FuzzTarget { name: "telegram-update", run: telegram_update::run },
    FuzzTarget { name: "session-key", run: session_key::run },
    FuzzTarget { name: "manage-body", run: manage_body::run },
    FuzzTarget { name: "access-token", run: access_token::run },
    FuzzTarget { name: "schedule-body", run: schedule_body::run },
    FuzzTarget { name: "reach-policy", run: reach_policy::run },
    FuzzTarget { name: "tenant-url", run: tenant_url::run },
    FuzzTarget { name: "dns-answers", run: dns_answers::run },
    FuzzTarget { name: "bus-hint", run: bus_hint::run },
    FuzzTarget { name: "lease-row", run: lease_row::run },
    FuzzTarget { name: "vault-blob", run: vault_blob::run },
    FuzzTarget { name: "media-head", run: media_head::run },
    FuzzTarget { name: "http-request", run: http_request::run },
    FuzzTarget { name: "letter-address", run: letter_address::run },
    FuzzTarget { name: "history", run: history::run },
];

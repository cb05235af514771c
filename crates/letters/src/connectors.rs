//! The connectors that come with the desk. The way through gate and inbox is `by_inbox`.

mod file_drop;
mod noop;
mod recent_receipts;
mod tmux;
mod webhook;

pub use file_drop::FileDrop;
pub use noop::NoOp;
pub use tmux::{BadTarget, Tmux};
pub use webhook::{HookTarget, Webhook};

use nightdesk_protocol::delivery::{
    DeliveryOrigin, Meta, Millis, TriggerKind, WakeOpts, WakeReceipt, When,
};
use nightdesk_types::limits::LETTER_BYTES_MAX;

use crate::address::Address;
use crate::error::{ConnectorError, FailureCause};
use crate::ids::new_id;

/// Warning in the receipt of a wake for later, if the connector cannot wait.
const NOT_PUT_OFF: &str = "this connector cannot delay letters; the letter was delivered at once";

/// Skill name in a wake that has no meta.
const UNNAMED: &str = "(unnamed)";

/// Checks that a letter has a size that every connector accepts.
fn check_size(agent: &str, words: &str) -> Result<(), ConnectorError> {
    if words.len() <= LETTER_BYTES_MAX {
        return Ok(());
    }
    Err(FailureCause::Invalid(format!("a letter has at most {LETTER_BYTES_MAX} bytes"))
        .into_error(agent))
}

/// Returns true if the wake is for later than now.
fn is_later(opts: &WakeOpts, now: Millis) -> bool {
    matches!(opts.when, Some(When::At(at)) if at > now)
}

/// Returns the meta of a wake, or a new one without a sender.
fn meta_or_new(opts: &WakeOpts, now: Millis) -> Meta {
    let unknown = || Meta {
        dispatch_id: new_id(),
        sent_at: now,
        origin: DeliveryOrigin {
            skill_name: UNNAMED.to_owned(),
            entry_skill_name: None,
            trigger_kind: TriggerKind::Inline,
            caller_agent_id: None,
        },
        sender: None,
        event_type: None,
        correlation_id: None,
    };
    opts.meta.as_deref().cloned().unwrap_or_else(unknown)
}

/// Returns the receipt of a wake, with a warning if it was for later.
fn wake_receipt(address: &Address<'_>, opts: &WakeOpts, now: Millis, woken: bool) -> WakeReceipt {
    let warnings = is_later(opts, now).then(|| NOT_PUT_OFF.to_owned()).into_iter().collect();
    let session_id = address.session_of(opts).map(str::to_owned);
    WakeReceipt { woken_at: now, woken, session_id, warnings }
}

//! The message about an alert.

use std::iter;

use nightdesk_types::{AlertWayId, TenantScope, Timestamp};
use serde_json::{Value, json};

use crate::alert::Alert;
use crate::store::DeliveryClaim;

/// The news of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertNews {
    /// The alert was opened, or the way is new.
    Opened,
    /// The alert is still open.
    Repeated,
    /// The alert is resolved.
    Resolved,
    /// A person tests the way.
    Test,
}

nightdesk_types::slugs! {
    AlertNews:
    Opened = "opened",
    Repeated = "repeated",
    Resolved = "resolved",
    Test = "test",
}

impl AlertNews {
    /// Returns true if the message says that an alert is open.
    pub const fn is_of_open_alert(self) -> bool {
        match self {
            Self::Opened | Self::Repeated => true,
            Self::Resolved | Self::Test => false,
        }
    }
}

/// A message for one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertMessage {
    /// Its id, the same in every try.
    pub id: String,
    /// The number of failed tries before this one.
    pub failures: u32,
    /// The time of the news.
    pub at: Timestamp,
    /// The subject of a mail.
    pub subject: String,
    /// The text.
    pub text: String,
    /// The news for a program.
    pub body: Value,
}

impl AlertMessage {
    /// Returns the message of a claimed delivery.
    pub fn from_claim(claim: &DeliveryClaim) -> Self {
        let DeliveryClaim { alert, tenant_name, way, news, failures } = claim;
        let place = match tenant_name {
            Some(name) => format!("tenant {name}"),
            None => "the desk".to_owned(),
        };
        let headline = alert.kind.headline(alert.count);
        let headline = match news {
            AlertNews::Opened | AlertNews::Test => headline,
            AlertNews::Repeated => format!("still: {headline}"),
            AlertNews::Resolved => format!("resolved: {}", alert.kind.slug()),
        };
        Self {
            id: message_id(alert, way.id),
            failures: *failures,
            at: alert.changed_at,
            subject: format!("Nightdesk: {headline} ({place})"),
            text: text(alert, &format!("{headline} ({place})")),
            body: body(alert, *news, tenant_name.as_deref()),
        }
    }

    /// Returns a test message.
    pub fn for_test(way: AlertWayId, scope: TenantScope, now: Timestamp) -> Self {
        let text = "This is a test of a way for alerts. Nothing is wrong.";
        Self {
            id: format!("alert_test_{}_{}", way.uuid().simple(), now.as_millisecond()),
            failures: 0,
            at: now,
            subject: "Nightdesk: test of a way for alerts".to_owned(),
            text: text.to_owned(),
            body: json!({
                "type": "alert.test",
                "timestamp": now.to_string(),
                "data": { "tenant_id": tenant_id(scope), "text": text },
            }),
        }
    }
}

/// Returns an id for each way, alert and version.
fn message_id(alert: &Alert, way: AlertWayId) -> String {
    let Alert { scope, kind, opened_at, version, .. } = alert;
    format!(
        "alert_{}_{}_{}_{version}_{}",
        scope.tenant().uuid().simple(),
        kind.slug(),
        opened_at.as_millisecond(),
        way.uuid().simple()
    )
}

/// Returns the id of a tenant, or `None` for the desk.
fn tenant_id(scope: TenantScope) -> Option<String> {
    (scope != TenantScope::desk_own()).then(|| scope.tenant().to_string())
}

fn text(alert: &Alert, headline: &str) -> String {
    if !alert.is_open() {
        return format!("{headline}: {}.", alert.kind.resolution());
    }
    let samples = alert.samples.iter().map(|sample| format!("- {sample}"));
    let more = alert.subjects.saturating_sub(alert.samples.len() as u64);
    let more = (more > 0).then(|| format!("- and {more} more"));
    let first = format!("{headline}, since {}.", seconds(alert.since));
    let last = format!("Next step: {}.", alert.kind.next_step());
    let lines: Vec<String> =
        iter::once(first).chain(samples).chain(more).chain(iter::once(last)).collect();
    lines.join("\n")
}

fn body(alert: &Alert, news: AlertNews, tenant_name: Option<&str>) -> Value {
    let Alert { scope, kind, opened_at, resolved_at, count, subjects, samples, since, .. } = alert;
    json!({
        "type": format!("alert.{}", news.slug()),
        "timestamp": alert.changed_at.to_string(),
        "data": {
            "kind": kind.slug(),
            "tenant_id": tenant_id(*scope),
            "tenant": tenant_name,
            "opened_at": seconds(*opened_at),
            "resolved_at": resolved_at.map(seconds),
            "since": seconds(*since),
            "count": count,
            "subjects": subjects,
            "samples": samples,
            "headline": kind.headline(*count),
            "next_step": kind.next_step(),
        },
    })
}

/// Formats a time in whole seconds.
fn seconds(at: Timestamp) -> String {
    Timestamp::from_second(at.as_second()).unwrap_or(at).to_string()
}

#[cfg(test)]
mod tests;

//! The ways on which alerts go out.

use std::fmt;

use nightdesk_types::limits::MAIL_ADDRESS_BYTES_MAX;
use nightdesk_types::{AgentId, AlertWayId, BotId, TenantScope, Timestamp};

/// The kind of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WayKind {
    /// A post to a URL.
    Webhook,
    /// A mail.
    Mail,
    /// A message in a chat.
    Chat,
}

nightdesk_types::slugs! {
    WayKind:
    Webhook = "webhook",
    Mail = "mail",
    Chat = "chat",
}

/// A way on which alerts go to a tenant or to the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertWay {
    /// The tenant, or [`TenantScope::desk_own`] for the operator's.
    pub scope: TenantScope,
    /// Its id.
    pub id: AlertWayId,
    /// Its target.
    pub target: WayTarget,
    /// The alerts that it gets.
    pub coverage: WayCoverage,
}

/// The target of a way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WayTarget {
    /// A URL.
    Webhook(WebhookTarget),
    /// A mail address.
    Mail(MailAddress),
    /// A chat.
    Chat(ChatTarget),
}

impl WayTarget {
    /// Returns the kind.
    pub const fn kind(&self) -> WayKind {
        match self {
            Self::Webhook(_) => WayKind::Webhook,
            Self::Mail(_) => WayKind::Mail,
            Self::Chat(_) => WayKind::Chat,
        }
    }
}

/// A URL to which alerts are posted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookTarget {
    /// The URL.
    pub url: String,
    /// The salt of the secret that signs the posts.
    pub salt: String,
}

/// A chat in which the desk writes in the place of an agent, where the gate lets that agent write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatTarget {
    /// The tenant of the agent.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// The bot.
    pub bot: BotId,
    /// The chat.
    pub chat_id: String,
}

/// The alerts that a way gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WayCoverage {
    /// Those of its tenant, or of the desk itself.
    Own,
    /// Those of the desk and of every tenant. Only a way of the desk can have it.
    AllTenants,
}

nightdesk_types::slugs! {
    WayCoverage:
    Own = "own",
    AllTenants = "all-tenants",
}

/// A way to be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAlertWay {
    /// Its target.
    pub target: WayTarget,
    /// The alerts that it gets.
    pub coverage: WayCoverage,
}

/// A way in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedAlertWay {
    /// The way.
    pub way: AlertWay,
    /// The time at which it was added.
    pub created_at: Timestamp,
    /// The time of the last message that arrived.
    pub told_at: Option<Timestamp>,
    /// The reason for which the last message did not arrive. `None`: it did.
    pub failure: Option<String>,
}

/// An address to which mails can be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailAddress(String);

impl MailAddress {
    /// Reads a plain address such as `ops@example.org`: printable ASCII without spaces, brackets and separators, and
    /// one `@` between two parts.
    pub fn parse(text: &str) -> Option<Self> {
        const FORBIDDEN: &str = "<>()[]\\,;:\"";
        let is_plain = |c: char| c.is_ascii_graphic() && !FORBIDDEN.contains(c);
        let (name, host) = text.split_once('@')?;
        let is_whole = !name.is_empty()
            && host.split('.').all(|label| !label.is_empty())
            && !host.contains('@')
            && !name.starts_with('-');
        let fits = text.len() <= MAIL_ADDRESS_BYTES_MAX && text.chars().all(is_plain);
        (is_whole && fits).then(|| Self(text.to_owned()))
    }

    /// Returns the address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_address_has_one_recipient() {
        for good in ["ops@example.org", "a.b+night@desk.example.org", "root@localhost"] {
            assert_eq!(
                MailAddress::parse(good).map(|read| read.to_string()).as_deref(),
                Some(good)
            );
        }
        let long = format!("{}@example.org", "a".repeat(MAIL_ADDRESS_BYTES_MAX));
        for bad in [
            "",
            "ops",
            "@example.org",
            "ops@",
            "ops@@example.org",
            "ops@example..org",
            "ops@a,eve@example.org",
            "Ops <ops@example.org>",
            "ops@example.org\r\nbcc: eve@example.org",
            "-ops@example.org",
            "öps@example.org",
            &long,
        ] {
            assert_eq!(MailAddress::parse(bad), None, "{bad}");
        }
    }
}

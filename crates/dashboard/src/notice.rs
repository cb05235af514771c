//! Notices: what a form did, as the next page tells it.

use axum::http::Uri;
use axum::response::{IntoResponse, Redirect, Response};

/// The result of a form. The next page's address names it, so that a reload shows no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    Resubmitted,
    Parked,
    Dropped,
    ManyResubmitted,
    ManyDropped,
    MoreLeft,
    NoneLeft,
    Called,
    TrialBegun,
    WakeUrlsSet,
    TenantCreated,
    AgentCreated,
    BotConnected,
    BotKeyReplaced,
    BotShared,
    BotUnshared,
    BotRemoved,
    PersonBound,
    PersonUnbound,
    ChatGranted,
    ChatReleased,
    GatewayRevoked,
    JobFired,
    JobCancelled,
    LetterSent,
    HookRemoved,
    LettersGranted,
    LettersWithdrawn,
    SkillStatusSet,
    RoleGiven,
    RoleTaken,
    SessionsEnded,
    TokenRevoked,
    GlassAsked,
    GlassApproved,
    GlassEnded,
    AlertWayAdded,
    AlertWayTested,
    AlertWayRemoved,
}

nightdesk_types::slugs! {
    Notice:
    Resubmitted = "resubmitted",
    Parked = "parked",
    Dropped = "dropped",
    ManyResubmitted = "many-resubmitted",
    ManyDropped = "many-dropped",
    MoreLeft = "more-left",
    NoneLeft = "none-left",
    Called = "called",
    TrialBegun = "trial-begun",
    WakeUrlsSet = "wake-urls-set",
    TenantCreated = "tenant-created",
    AgentCreated = "agent-created",
    BotConnected = "bot-connected",
    BotKeyReplaced = "bot-key-replaced",
    BotShared = "bot-shared",
    BotUnshared = "bot-unshared",
    BotRemoved = "bot-removed",
    PersonBound = "person-bound",
    PersonUnbound = "person-unbound",
    ChatGranted = "chat-granted",
    ChatReleased = "chat-released",
    GatewayRevoked = "gateway-revoked",
    JobFired = "job-fired",
    JobCancelled = "job-cancelled",
    LetterSent = "letter-sent",
    HookRemoved = "hook-removed",
    LettersGranted = "letters-granted",
    LettersWithdrawn = "letters-withdrawn",
    SkillStatusSet = "skill-status-set",
    RoleGiven = "role-given",
    RoleTaken = "role-taken",
    SessionsEnded = "sessions-ended",
    TokenRevoked = "token-revoked",
    GlassAsked = "glass-asked",
    GlassApproved = "glass-approved",
    GlassEnded = "glass-ended",
    AlertWayAdded = "alert-way-added",
    AlertWayTested = "alert-way-tested",
    AlertWayRemoved = "alert-way-removed",
}

impl Notice {
    /// Returns the sentence that a page shows.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Resubmitted => "The entry waits again, under a new number.",
            Self::Parked => "The entry is parked. The entries behind it go on.",
            Self::Dropped => "The entry is gone.",
            Self::ManyResubmitted => "The entries wait again, under new numbers.",
            Self::ManyDropped => "The entries are gone.",
            Self::MoreLeft => "The oldest hundred entries are done. More are left; repeat it.",
            Self::NoneLeft => {
                "Nothing was left to do: no entry is parked for this reason any more."
            }
            Self::Called => "The agent was called.",
            Self::TrialBegun => "A test entry is in the inbox, and the agent was called.",
            Self::WakeUrlsSet => "The desk calls the agent at these URLs from now on.",
            Self::TenantCreated => "The tenant exists. Give it an agent and a bot.",
            Self::AgentCreated => "The agent exists. Give it a gateway, and people who reach it.",
            Self::BotConnected => "The bot is connected. Let people reach an agent through it.",
            Self::BotKeyReplaced => "The bot has its new key. Every node uses it within a minute.",
            Self::BotShared => "Agents of all tenants may be linked on the bot.",
            Self::BotUnshared => "Only agents of this tenant may be linked on the bot from now on.",
            Self::BotRemoved => "The bot is gone, with its key and its links.",
            Self::PersonBound => "The person reaches the agent from now on.",
            Self::PersonUnbound => "The person does not reach the agent by a link any more.",
            Self::ChatGranted => "The agent is reached in this place from now on.",
            Self::ChatReleased => "The agent is not reached in this place any more.",
            Self::GatewayRevoked => "The gateway is revoked, and its line is closed.",
            Self::JobFired => "The job fires now. The list of fires shows the result.",
            Self::JobCancelled => "The job is cancelled.",
            Self::LetterSent => "The letter is sent.",
            Self::HookRemoved => "The webhook is gone. Its secret sends no letters any more.",
            Self::LettersGranted => {
                "This side allows the letters. The other tenant must allow them, too."
            }
            Self::LettersWithdrawn => "Letters between these agents are not allowed any more.",
            Self::SkillStatusSet => "The skill has its new status.",
            Self::RoleGiven => "The user has the role.",
            Self::RoleTaken => "The user does not have the role any more.",
            Self::SessionsEnded => "All sessions of the user are over.",
            Self::TokenRevoked => "The token is of no use any more.",
            Self::GlassAsked => "The request is recorded. A second operator must approve it.",
            Self::GlassApproved => "The operator may read the messages for the requested time.",
            Self::GlassEnded => "The request is over.",
            Self::AlertWayAdded => "The way is added, and gets everything that is open. Test it.",
            Self::AlertWayTested => "The test message arrived.",
            Self::AlertWayRemoved => "The way is removed. No alert goes out on it any more.",
        }
    }

    /// Leads to a page that shows the notice.
    pub(crate) fn redirect(self, page: &str) -> Response {
        let (path, fragment) = page.split_once('#').map_or((page, ""), |(path, id)| (path, id));
        let joint = if path.contains('?') { '&' } else { '?' };
        let mark = if fragment.is_empty() { "" } else { "#" };
        let to = format!("{path}{joint}done={}{mark}{fragment}", self.slug());
        Redirect::to(&to).into_response()
    }

    /// Returns the notice that an address names.
    pub(crate) fn of_address(address: &Uri) -> Option<Self> {
        let mut pairs = url::form_urlencoded::parse(address.query()?.as_bytes());
        let (_, slug) = pairs.find(|(name, _)| name == "done")?;
        Self::from_slug(&slug)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::header;

    use super::*;

    #[test]
    fn a_notice_comes_back_from_the_address() {
        for (page, want) in [
            ("/t/acme", "/t/acme?done=parked"),
            ("/t/acme?agent=owl", "/t/acme?agent=owl&done=parked"),
            ("/t/acme#rows", "/t/acme?done=parked#rows"),
        ] {
            let response = Notice::Parked.redirect(page);
            assert_eq!(response.headers()[header::LOCATION], want);
        }
        let address = "/t/acme?a=b&done=bot-removed".parse().unwrap();
        assert_eq!(Notice::of_address(&address), Some(Notice::BotRemoved));
        let strange = "/t/acme?done=%3Cscript%3E".parse().unwrap();
        assert_eq!(Notice::of_address(&strange), None, "no other text is shown");
    }
}

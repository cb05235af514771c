//! The kinds of alerts, with their texts.

use nightdesk_types::limits::{
    ALERT_CALLS_MIN, ALERT_EVENT_FOR, ALERT_LOSS_FOR, ALERT_QUOTA_PERCENT,
};

/// The kind of an alert. A tenant, or the desk, has at most one open alert of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlertKind {
    /// Entries were parked and not resubmitted.
    Parked,
    /// Inboxes hold as many entries as they may.
    InboxFull,
    /// Authentic events could not be read.
    Quarantined,
    /// Bots receive nothing.
    DeafBot,
    /// Agents do not come although they are called.
    FailingWake,
    /// Agents did not get fires of their jobs.
    MissedFire,
    /// The database lost commits, as after a failover to a standby that lagged.
    LostCommits,
    /// Quotas are almost used up.
    Quota,
    /// Certificates expire soon.
    ExpiringKey,
    /// Folders have little free space.
    Disk,
}

nightdesk_types::slugs! {
    AlertKind:
    Parked = "parked",
    InboxFull = "inbox-full",
    Quarantined = "quarantined",
    DeafBot = "deaf-bot",
    FailingWake = "failing-wake",
    MissedFire = "missed-fire",
    LostCommits = "lost-commits",
    Quota = "quota",
    ExpiringKey = "expiring-key",
    Disk = "disk",
}

impl AlertKind {
    /// The kinds whose causes are looked for every few seconds.
    pub const QUICK: &[Self] = &[
        Self::Parked,
        Self::InboxFull,
        Self::Quarantined,
        Self::DeafBot,
        Self::FailingWake,
        Self::MissedFire,
        Self::LostCommits,
    ];

    /// The kinds whose causes need counts of many rows, or change slowly.
    pub const SLOW: &[Self] = &[Self::Quota, Self::ExpiringKey, Self::Disk];

    /// Returns the state in a few words, for this number of entries, bots, agents and so on.
    pub fn headline(self, count: u64) -> String {
        let (one, many) = match self {
            Self::Parked => ("entry is parked", "entries are parked"),
            Self::InboxFull => ("inbox is full", "inboxes are full"),
            Self::Quarantined => (
                "event is quarantined: it cannot be read",
                "events are quarantined: they cannot be read",
            ),
            Self::DeafBot => ("bot receives no events", "bots receive no events"),
            Self::FailingWake => ("agent does not wake up", "agents do not wake up"),
            Self::MissedFire => ("fire of a job was missed", "fires of jobs were missed"),
            Self::LostCommits => {
                ("loss of commits in the database", "losses of commits in the database")
            }
            Self::Quota => ("quota is almost used up", "quotas are almost used up"),
            Self::ExpiringKey => ("certificate expires soon", "certificates expire soon"),
            Self::Disk => ("folder has little free space", "folders have little free space"),
        };
        format!("{count} {}", if count == 1 { one } else { many })
    }

    /// Returns the step to take.
    pub const fn next_step(self) -> &'static str {
        match self {
            Self::Parked => {
                "`nightdesk inbox list` shows the entries and their reasons; deliver them again with \
                 `nightdesk inbox resubmit`, or drop them"
            }
            Self::InboxFull => {
                "start the agent so that it takes its entries, or have the quota pending-entries raised; newer entries \
                 are parked until then"
            }
            Self::Quarantined => {
                "`nightdesk bot check` shows the bot's settings; the desk's log has the reason for each event"
            }
            Self::DeafBot => "`nightdesk bot check` shows what to fix",
            Self::FailingWake => "`nightdesk verify --wake` shows what to fix",
            Self::MissedFire => {
                "check that the agent answers at its callback, then have it arm the job again; `nightdesk schedule \
                 history` shows the fires"
            }
            Self::LostCommits => {
                "compare the last minutes before the failover with `nightdesk audit list` and with the platforms' \
                 chats; docs/failover.md has the steps"
            }
            Self::Quota => {
                "remove something, or have the quota raised with `nightdesk tenant quota`; at the quota, more is refused"
            }
            Self::ExpiringKey => {
                "replace the files of the certificate; the node rereads them, and `nightdesk config check` tests them"
            }
            Self::Disk => "free some space, or move the folder to a larger disk",
        }
    }

    /// Returns the reason for which an alert is over.
    pub fn resolution(self) -> String {
        let hours = |span: std::time::Duration| span.as_secs() / 3_600;
        match self {
            Self::Parked => "every parked entry was delivered again or removed".to_owned(),
            Self::InboxFull => "every inbox has room for entries again".to_owned(),
            Self::Quarantined => {
                format!("every event was readable for {} hour", hours(ALERT_EVENT_FOR))
            }
            Self::DeafBot => "every bot receives events again".to_owned(),
            Self::FailingWake => {
                format!("no agent was called more than {ALERT_CALLS_MIN} times in vain any more")
            }
            Self::MissedFire => format!("no fire was missed for {} hour", hours(ALERT_EVENT_FOR)),
            Self::LostCommits => {
                format!("the database lost nothing more for {} hours", hours(ALERT_LOSS_FOR))
            }
            Self::Quota => format!("every quota is used for less than {ALERT_QUOTA_PERCENT} %"),
            Self::ExpiringKey => "every certificate is valid for long enough".to_owned(),
            Self::Disk => "every folder has enough free space".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_looked_for_at_one_pace() {
        let mut kinds = [AlertKind::QUICK, AlertKind::SLOW].concat();
        kinds.sort_unstable();

        assert_eq!(kinds, AlertKind::ALL);
    }

    #[test]
    fn a_headline_agrees_with_its_number() {
        assert_eq!(AlertKind::Parked.headline(1), "1 entry is parked");
        assert_eq!(AlertKind::DeafBot.headline(3), "3 bots receive no events");
    }

    #[test]
    fn each_kind_has_a_next_step_and_an_end() {
        for kind in AlertKind::ALL {
            assert!(kind.next_step().len() > 20 && kind.resolution().len() > 20, "{kind:?}");
        }
    }
}

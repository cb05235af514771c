//! Address of a letter: the agent, and optionally one of its sessions.

use nightdesk_protocol::delivery::WakeOpts;

/// An address, split at its first `@`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address<'a> {
    /// The whole text.
    pub whole: &'a str,
    /// The agent.
    pub agent: &'a str,
    /// The session, if it names one.
    pub session: Option<&'a str>,
}

impl<'a> Address<'a> {
    /// Parses an address. Every text is valid.
    pub fn parse(whole: &'a str) -> Self {
        match whole.split_once('@') {
            Some((agent, session)) => {
                Self { whole, agent, session: Some(session).filter(|session| !session.is_empty()) }
            }
            None => Self { whole, agent: whole, session: None },
        }
    }

    /// Returns true if the sender wants the agent woken: the address has an `@`.
    pub fn wakes(&self) -> bool {
        self.whole.contains('@')
    }

    /// Returns the session. `session_id` in the options overrides the session in the address.
    pub fn session_of(&self, opts: &'a WakeOpts) -> Option<&'a str> {
        opts.session_id.as_deref().or(self.session)
    }

    /// Returns the name by which an agent is known: the whole address, or the part before the `@`.
    pub fn find_known_name(&self, is_known: impl Fn(&str) -> bool) -> Option<&'a str> {
        [self.whole, self.agent].into_iter().find(|name| is_known(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_at_its_first_at() {
        let cases = [
            ("perry", "perry", None, false),
            ("perry@kitchen", "perry", Some("kitchen"), true),
            ("perry@kitchen@home", "perry", Some("kitchen@home"), true),
            ("perry@", "perry", None, true),
            ("@perry", "", Some("perry"), true),
            ("", "", None, false),
        ];
        for (whole, agent, session, wakes) in cases {
            let address = Address::parse(whole);
            assert_eq!((address.agent, address.session), (agent, session), "{whole}");
            assert_eq!(address.wakes(), wakes, "{whole}");
        }
    }

    #[test]
    fn a_session_that_is_said_apart_counts_more() {
        let apart = WakeOpts { session_id: Some("cellar".to_owned()), ..WakeOpts::default() };
        let address = Address::parse("perry@kitchen");

        assert_eq!(address.session_of(&apart), Some("cellar"));
        assert_eq!(address.session_of(&WakeOpts::default()), Some("kitchen"));
    }

    #[test]
    fn a_whole_address_is_looked_for_before_its_agent() {
        let address = Address::parse("perry@kitchen");
        assert_eq!(
            address.find_known_name(|name| name.starts_with("perry")),
            Some("perry@kitchen")
        );
        assert_eq!(address.find_known_name(|name| name == "perry"), Some("perry"));
        assert_eq!(address.find_known_name(|name| name == "kitchen"), None);
    }
}

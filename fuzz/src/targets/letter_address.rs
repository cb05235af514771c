//! Z22: an address is split by one rule, at its first `@`, and nothing of it is lost.

use nightdesk_letters::Address;
use nightdesk_protocol::delivery::WakeOpts;

pub(super) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let address = Address::parse(&text);
    let at = text.find('@');
    let (agent, rest) = at.map_or((&*text, ""), |at| (&text[..at], &text[at + 1..]));
    assert_eq!(address.whole, text);
    assert_eq!(address.agent, agent, "{text:?}");
    assert_eq!(address.session.unwrap_or_default(), rest, "{text:?}");
    assert_ne!(address.session, Some(""), "an empty session is none");
    assert_eq!(address.wakes(), at.is_some(), "{text:?}");
    assert!(!address.agent.contains('@'), "{text:?}");
    check_lookup(&address);
}

/// Checks that an agent is looked up by the whole address or by the part before the `@`, and by no other name.
fn check_lookup(address: &Address<'_>) {
    assert_eq!(address.find_known_name(|_| true), Some(address.whole));
    assert_eq!(address.find_known_name(|_| false), None);
    let by_agent = address.find_known_name(|name| name == address.agent);
    assert_eq!(by_agent, Some(address.agent), "{address:?}");
    let other = |name: &str| name != address.whole && name != address.agent;
    assert_eq!(address.find_known_name(other), None, "{address:?}");
    let apart = WakeOpts { session_id: Some("cellar".to_owned()), ..WakeOpts::default() };
    assert_eq!(address.session_of(&apart), Some("cellar"));
    assert_eq!(address.session_of(&WakeOpts::default()), address.session);
}

//! Lists five agents of four tenants, each with one person, and their bots.

/// An agent and its person.
#[derive(Clone, Copy, Debug)]
pub(super) struct One {
    /// Name of the agent.
    pub(super) name: &'static str,
    pub(super) tenant: &'static str,
    /// Index of its bot on each platform.
    pub(super) bot: usize,
}

const fn one(name: &'static str, tenant: &'static str, bot: usize) -> One {
    One { name, tenant, bot }
}

/// The first three share a bot, and the first two a tenant.
pub(super) const ALL: [One; 5] = [
    one("owl", "night", 0),
    one("bat", "night", 0),
    one("lark", "dawn", 0),
    one("hen", "noon", 1),
    one("moth", "dusk", 2),
];

/// Tenants of the bots. The first bot is shared.
pub(super) const OWNERS: [&str; 3] = ["night", "noon", "dusk"];

/// Guild and channel of all people on Discord.
pub(super) const GUILD: u64 = 70;
pub(super) const ROOM: u64 = 500;

/// Group of all people on Telegram.
pub(super) const GROUP: i64 = -1_000;

/// Returns the Discord id of an agent's person.
pub(super) const fn on_discord(agent: usize) -> u64 {
    900 + agent as u64
}

/// Returns the Telegram id of an agent's person, which is also their private chat.
pub(super) const fn on_telegram(agent: usize) -> i64 {
    [700, 701, 702, 703, 704][agent]
}

/// Returns the id of a bot on both platforms.
pub(super) const fn bot_id(bot: usize) -> u64 {
    4_242 + bot as u64
}

/// Returns a bot's Discord token. The part before the first dot encodes its id.
pub(super) fn discord_token(bot: usize) -> String {
    ["NDI0Mg", "NDI0Mw", "NDI0NA"][bot].to_owned() + ".Gabcde.walls"
}

/// Returns a bot's Telegram token.
pub(super) fn telegram_token(bot: usize) -> String {
    format!("{}:walls", bot_id(bot))
}

/// Returns a bot's handle on both platforms.
pub(super) fn handle(bot: usize) -> String {
    format!("desk{bot}_bot")
}

/// Returns the word of a message, which encodes its agent.
pub(super) fn word(agent: usize, round: usize, kind: &str) -> String {
    format!("w.{agent}.{round}.{kind}")
}

/// Returns true if a word is of a kind.
pub(super) fn is_of(word: &str, kind: &str) -> bool {
    word.rsplit('.').next() == Some(kind)
}

/// Returns the words in a text, with their agents.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '.');
    text.split(ends).filter_map(|word| {
        let agent = word.strip_prefix("w.")?.split('.').next()?.parse().ok()?;
        Some((agent, word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_says_whose_it_is_wherever_it_stands() {
        let text = format!("re: {} \"{}\"", word(3, 0, "say"), word(12, 7, "ask"));

        let found: Vec<(usize, &str)> = words(&text).collect();

        assert_eq!(found, [(3, "w.3.0.say"), (12, "w.12.7.ask")]);
    }
}

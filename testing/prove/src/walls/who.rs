//! Who: five agents of four tenants, each with one person, and the bots by which they are reached.

/// An agent and its person.
#[derive(Clone, Copy, Debug)]
pub(super) struct One {
    /// What the agent is called.
    pub(super) name: &'static str,
    pub(super) tenant: &'static str,
    /// Which of the bots of each platform.
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

/// Whose the bots are. The first is shared.
pub(super) const OWNERS: [&str; 3] = ["night", "noon", "dusk"];

/// Where everybody is on Discord.
pub(super) const GUILD: u64 = 70;
pub(super) const ROOM: u64 = 500;

/// Where everybody is on Telegram.
pub(super) const GROUP: i64 = -1_000;

/// The person of an agent, on Discord.
pub(super) const fn on_discord(agent: usize) -> u64 {
    900 + agent as u64
}

/// The same on Telegram, which is also their private chat.
pub(super) const fn on_telegram(agent: usize) -> i64 {
    [700, 701, 702, 703, 704][agent]
}

/// The number of a bot on both platforms.
pub(super) const fn bot_id(bot: usize) -> u64 {
    4_242 + bot as u64
}

/// What Discord knows a bot by. What stands before the first dot is its number.
pub(super) fn discord_token(bot: usize) -> String {
    ["NDI0Mg", "NDI0Mw", "NDI0NA"][bot].to_owned() + ".Gabcde.walls"
}

/// What Telegram knows it by.
pub(super) fn telegram_token(bot: usize) -> String {
    format!("{}:walls", bot_id(bot))
}

/// What it is called on both.
pub(super) fn handle(bot: usize) -> String {
    format!("desk{bot}_bot")
}

/// What people say holds a word, and the word whose it is.
pub(super) fn word(agent: usize, round: usize, kind: &str) -> String {
    format!("w.{agent}.{round}.{kind}")
}

/// Whether a word is of a kind.
pub(super) fn is_of(word: &str, kind: &str) -> bool {
    word.rsplit('.').next() == Some(kind)
}

/// The words in a text, and whose they are.
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

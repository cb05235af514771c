//! Checks a bot's state at Discord and names the fixes.

use std::sync::Arc;

use nightdesk_discord::{ConnectError, DiscordBotSetup};
use nightdesk_port::{Bot, UnlimitedBudget};
use serde_json::{Value, json};

use crate::config::Config;

/// Minimum of sessions left in a day; with fewer the bot may soon receive nothing.
const SESSIONS_LEFT_MIN: u64 = 200;

/// Queries Discord about a bot whose interactions it may post to this address. Returns the state and the faults.
pub(super) async fn check_bot(
    config: &Config,
    bot: &Bot,
    hook: &str,
) -> anyhow::Result<(Value, Vec<String>)> {
    let Some(key) = &bot.key else {
        return Ok((
            Value::Null,
            vec!["the bot has no token; set one with `nightdesk bot rotate-key`".to_owned()],
        ));
    };
    // No session is begun here.
    let discord = config.discord.adapter(Arc::new(UnlimitedBudget))?;
    Ok(match discord.read_bot_setup(key).await {
        Ok(standing) => (standing_json(&standing), standing_faults(&standing, hook)),
        Err(error) => (Value::Null, vec![error_text(&error)]),
    })
}

fn standing_json(standing: &DiscordBotSetup) -> Value {
    json!({
        "username": standing.username, "interactions": standing.interactions_url,
        "hears_members": standing.hears_members, "hears_text": standing.hears_text,
        "sessions_left_today": standing.sessions_left,
    })
}

fn standing_faults(standing: &DiscordBotSetup, hook: &str) -> Vec<String> {
    let mut wrong = missing_intents(standing);
    if standing.interactions_url.as_deref().is_some_and(|url| url != hook) {
        wrong.push(format!(
            "Discord posts interactions to another URL; set Interactions Endpoint URL, under General \
             Information, to {hook}, or leave it empty"
        ));
    }
    if standing.sessions_left < SESSIONS_LEFT_MIN {
        let left = standing.sessions_left;
        wrong.push(format!(
            "the bot may begin {left} more sessions today; does another program use its token?"
        ));
    }
    wrong
}

/// Returns the intents that the bot lacks, each with its fix.
pub(crate) fn missing_intents(standing: &DiscordBotSetup) -> Vec<String> {
    let told = [
        (standing.hears_members, "SERVER MEMBERS", "the desk cannot know which people see a chat"),
        (standing.hears_text, "MESSAGE CONTENT", "the bot reads only messages that mention it"),
    ];
    let missing = told.into_iter().filter(|(is_told, ..)| !is_told);
    let words = |(_, intent, without): (bool, &str, &str)| {
        format!("turn on {intent}, under Bot, Privileged Gateway Intents: without it, {without}")
    };
    missing.map(words).collect()
}

fn error_text(error: &ConnectError) -> String {
    match error {
        ConnectError::KeyRejected => {
            "Discord rejects the token; get a new one with Reset Token, under Bot, and set it with \
             `nightdesk bot rotate-key`"
        }
        ConnectError::Refused(_) | ConnectError::Unavailable(_) => {
            "Discord did not respond; check discord.api_url, and that this machine can reach it"
        }
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_in_words() {
        let well = DiscordBotSetup {
            username: "desk".to_owned(),
            application_id: "1".to_owned(),
            public_key: String::new(),
            hears_members: true,
            hears_text: true,
            interactions_url: None,
            sessions_left: 900,
        };
        let at =
            |url: &str| DiscordBotSetup { interactions_url: Some(url.to_owned()), ..well.clone() };
        let cases = [
            ("well", well.clone(), ""),
            ("posted", at("ours"), ""),
            ("posted elsewhere", at("theirs"), "another URL"),
            (
                "no members",
                DiscordBotSetup { hears_members: false, ..well.clone() },
                "SERVER MEMBERS",
            ),
            ("no text", DiscordBotSetup { hears_text: false, ..well.clone() }, "MESSAGE CONTENT"),
            (
                "few sessions",
                DiscordBotSetup { sessions_left: 3, ..well.clone() },
                "3 more sessions",
            ),
        ];
        for (name, standing, want) in cases {
            let said = standing_faults(&standing, "ours").concat();
            assert!(said.contains(want) && said.is_empty() == want.is_empty(), "{name}: {said}");
        }
    }
}

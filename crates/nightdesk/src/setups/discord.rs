//! Discord, as the operator of a bot sets it up.

use async_trait::async_trait;
use nightdesk_discord::{ConnectError, Discord, DiscordBotSetup};
use nightdesk_office::{
    OfficeError, PlatformAccount, PlatformFindings, PlatformSetup, UpdateDelivery,
};
use nightdesk_port::Bot;
use nightdesk_vault::Key;
use serde_json::{Value, json};

use super::NO_TOKEN;

/// Minimum of sessions left in a day; with fewer the bot may soon receive nothing.
const SESSIONS_LEFT_MIN: u64 = 200;

/// Reads the setups of bots at Discord.
pub(super) struct DiscordSetup(pub(super) Discord);

nightdesk_types::opaque_debug!(DiscordSetup);

impl DiscordSetup {
    async fn read(&self, key: Option<&Key>) -> Result<DiscordBotSetup, OfficeError> {
        let key = key.ok_or_else(|| OfficeError::Conflict(NO_TOKEN.to_owned()))?;
        self.0.read_bot_setup(key).await.map_err(|error| connect_refusal(&error))
    }
}

#[async_trait]
impl PlatformSetup for DiscordSetup {
    async fn find_account(
        &self,
        token: &Key,
        updates: UpdateDelivery,
    ) -> Result<PlatformAccount, OfficeError> {
        if updates == UpdateDelivery::Posted {
            let unposted = "Discord sends events over a socket; leave --webhook out";
            return Err(OfficeError::Invalid(unposted.to_owned()));
        }
        let DiscordBotSetup { username, application_id, public_key, .. } =
            self.read(Some(token)).await?;
        let settings = json!({ "application_id": application_id, "public_key": public_key });
        Ok(PlatformAccount { handle: username, settings })
    }

    async fn connect(&self, bot: &Bot, hook: &str) -> Result<Value, OfficeError> {
        let standing = self.read(bot.key.as_ref()).await?;
        let mut to_do = missing_intents(&standing);
        if standing.interactions_url.as_deref() != Some(hook) {
            to_do.push(format!(
                "for commands and buttons, set Interactions Endpoint URL, under General Information, to {hook}"
            ));
        }
        let sessions_left = standing.sessions_left;
        Ok(json!({ "interactions": hook, "sessions_left_today": sessions_left, "to_do": to_do }))
    }

    async fn direct_updates(&self, _bot: &Bot, _hook: &str) -> Result<(), OfficeError> {
        Ok(())
    }

    async fn end_updates(&self, _bot: &Bot) -> Option<String> {
        None
    }

    async fn check_bot(&self, bot: &Bot, hook: &str) -> PlatformFindings {
        let Some(key) = &bot.key else { return PlatformFindings::unread(NO_TOKEN) };
        match self.0.read_bot_setup(key).await {
            Ok(standing) => PlatformFindings {
                says: standing_json(&standing),
                wrong: standing_faults(&standing, hook),
            },
            Err(error) => PlatformFindings::unread(error_text(&error)),
        }
    }
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
fn missing_intents(standing: &DiscordBotSetup) -> Vec<String> {
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

fn connect_refusal(error: &ConnectError) -> OfficeError {
    match error {
        ConnectError::KeyRejected => OfficeError::Invalid(
            "Discord rejects this token; get a new one with Reset Token, under Bot".to_owned(),
        ),
        ConnectError::Refused(code) => {
            OfficeError::Conflict(format!("Discord refused the request ({code})"))
        }
        ConnectError::Unavailable(_) => OfficeError::Unavailable(error_text(error)),
    }
}

fn error_text(error: &ConnectError) -> String {
    match error {
        ConnectError::KeyRejected => {
            "Discord rejects the token; get a new one with Reset Token, under Bot, and set it with \
             `nightdesk bot rotate-key`"
        }
        ConnectError::Refused(_) | ConnectError::Unavailable(_) => {
            "Discord did not respond; check discord.api_url, and that the desk can reach it"
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

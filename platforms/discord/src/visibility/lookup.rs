//! Requests missing data about a guild. A resumed session repeats no guild.

use std::time::Duration;

use nightdesk_kit::PlatformCallError;
use nightdesk_port::Bot;
use nightdesk_types::event::Source;
use reqwest::StatusCode;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::guild::{Guild, GuildChannel};
use super::guild_events::{GuildMember, Role};
use super::{BotGuilds, GUILDS_MAX};
use crate::Discord;
use crate::api::ApiCall;
use crate::events::DiscordChannel;
use crate::id::Id;

/// Time limit of all requests for one question.
const LEARN_WAIT: Duration = Duration::from_secs(5);

#[derive(Deserialize)]
struct GuildResponse {
    owner_id: Option<Id>,
    roles: Vec<Role>,
}

/// The question if a person sees a channel.
#[derive(Clone, Copy)]
struct VisibilityQuestion {
    guild: Id,
    channel: Id,
    person: Id,
    is_guild_known: bool,
}

/// The responses.
struct LookupResponses {
    guild: Option<GuildResponse>,
    channels: Vec<GuildChannel>,
    /// `None` if the person is not a member.
    member: Option<GuildMember>,
}

impl Discord {
    /// Requests the data that is missing to decide if a person sees the channel of an event.
    pub(super) async fn look_up_visibility(&self, bot: &Bot, source: &Source, person: &str) {
        let scope = source.scope_id.as_deref().and_then(Id::parse);
        let ids = (scope, Id::parse(&source.chat_id), Id::parse(person));
        let (Some(guild), Some(channel), Some(person)) = ids else { return };
        let (since, is_guild_known) = {
            let mut known = self.guilds.lock_bots();
            let known = known.entry(bot.id).or_default();
            (known.told, known.guilds.contains_key(&guild))
        };
        let question = VisibilityQuestion { guild, channel, person, is_guild_known };
        let asked = self.request_missing(bot, question);
        let Ok(Ok(learnt)) = timeout(LEARN_WAIT, asked).await else { return };
        let mut known = self.guilds.lock_bots();
        let known = known.entry(bot.id).or_default();
        // An event that arrived in the meantime may be newer than the responses.
        if known.told == since {
            store_responses(known, question, learnt);
        }
    }

    /// Requests an unknown channel, so that its messages are assigned to the right place.
    pub(crate) async fn learn_channel(
        &self,
        bot: &Bot,
        channel: Id,
    ) -> Result<Option<DiscordChannel>, PlatformCallError> {
        if let Some(room) = self.guilds.find_channel(bot.id, channel) {
            return Ok(Some(room));
        }
        match self.fetch::<DiscordChannel>(bot, format!("channels/{channel}")).await {
            Ok(room) => {
                self.guilds.put_channel(bot.id, room.clone());
                Ok(Some(room))
            }
            Err(PlatformCallError::Refused(no))
                if no.status.is_client_error() && !is_temporary(no.status) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn request_missing(
        &self,
        bot: &Bot,
        question: VisibilityQuestion,
    ) -> Result<LookupResponses, PlatformCallError> {
        let VisibilityQuestion { guild, channel, person, is_guild_known } = question;
        let path = format!("guilds/{guild}");
        let whole = if is_guild_known { None } else { Some(self.fetch(bot, path).await?) };
        let channel: GuildChannel = self.fetch(bot, format!("channels/{channel}")).await?;
        let parent = channel.room.parent_id.filter(|_| channel.room.is_thread());
        let mut channels = vec![channel];
        if let Some(parent) = parent {
            channels.push(self.fetch(bot, format!("channels/{parent}")).await?);
        }
        let member = match self.fetch(bot, format!("guilds/{guild}/members/{person}")).await {
            Err(PlatformCallError::Refused(no)) if no.status == StatusCode::NOT_FOUND => None,
            member => Some(member?),
        };
        Ok(LookupResponses { guild: whole, channels, member })
    }

    async fn fetch<T: DeserializeOwned>(
        &self,
        bot: &Bot,
        path: String,
    ) -> Result<T, PlatformCallError> {
        self.api.call(bot, ApiCall::get(path)).await
    }
}

fn is_temporary(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::UNAUTHORIZED)
}

fn store_responses(known: &mut BotGuilds, question: VisibilityQuestion, learnt: LookupResponses) {
    let VisibilityQuestion { guild: id, person, .. } = question;
    // Another lookup may have stored the guild meanwhile, with members that this one does not know.
    if let Some(whole) = learnt.guild.filter(|_| !known.guilds.contains_key(&id)) {
        if known.guilds.len() >= GUILDS_MAX {
            return;
        }
        let roles = whole.roles.iter().map(Role::parts).collect();
        known.guilds.insert(id, Guild::new(whole.owner_id, roles));
    }
    let Some(guild) = known.guilds.get_mut(&id) else { return };
    // A channel of another guild is not added to this one.
    for channel in learnt.channels.into_iter().filter(|one| one.room.guild_id == Some(id)) {
        guild.put_channel(channel);
    }
    guild.put_member(person, learnt.member.map(|member| member.roles));
}

#[cfg(test)]
mod tests {
    use nightdesk_types::Visibility;
    use serde_json::json;

    use super::super::guild::{VIEW_CHANNEL, Viewer};
    use super::*;

    const GUILD: Id = Id(70);
    const CHANNEL: Id = Id(500);

    /// The responses to a question that was asked before anything of the guild was known.
    fn first_responses() -> LookupResponses {
        let role = json!({ "id": "70", "permissions": VIEW_CHANNEL.to_string() });
        let channel = json!({ "id": "500", "type": 0, "guild_id": "70" });
        LookupResponses {
            guild: serde_json::from_value(json!({ "owner_id": "1", "roles": [role] })).unwrap(),
            channels: vec![serde_json::from_value(channel).unwrap()],
            member: serde_json::from_value(json!({ "roles": [] })).unwrap(),
        }
    }

    #[test]
    fn lookups_at_the_same_time_keep_what_the_others_learnt() {
        let mut known = BotGuilds::default();
        let people = [Id(900), Id(901)];

        for person in people {
            let question = VisibilityQuestion {
                guild: GUILD,
                channel: CHANNEL,
                person,
                is_guild_known: false,
            };
            store_responses(&mut known, question, first_responses());
        }

        for person in people {
            let viewer = Viewer { person, is_author: true };
            let sight = known.guilds.get(&GUILD).unwrap().visibility_of(GUILD, CHANNEL, viewer);
            assert_eq!(sight, Visibility::Sees, "{person:?}");
        }
    }
}

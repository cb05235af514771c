//! Determines the place and the author of a message or an interaction.

use nightdesk_types::event::{ChatType, Source};

use super::message::{DiscordMessage, Interaction, MemberProfile, User};
use super::{ChannelLookup, DiscordChannel};
use crate::id::Id;

/// Returns the place and the author of a message.
pub(super) fn message_source(
    platform: &str,
    rooms: &dyn ChannelLookup,
    message: &DiscordMessage,
    author: &User,
) -> Source {
    let room = rooms.find_channel(message.channel_id);
    // Fetched messages do not contain their guild.
    let guild = message.guild_id.or(room.as_ref().and_then(|room| room.guild_id));
    let source = Source {
        platform: platform.to_owned(),
        message_id: Some(message.id.to_string()),
        ..place_source(message.channel_id, guild, room.as_ref())
    };
    let source = with_author(author, message.member.as_ref(), source);
    // A webhook can use any name.
    Source { is_bot: source.is_bot || message.webhook_id.is_some(), ..source }
}

/// Returns the place and the author of an interaction. `None` if one of them is missing.
pub(super) fn interaction_source(
    platform: &str,
    rooms: &dyn ChannelLookup,
    interaction: &Interaction,
) -> Option<Source> {
    let member = interaction.member.as_ref();
    let user = member.and_then(|member| member.user.as_ref()).or(interaction.user.as_ref())?;
    let channel = interaction.channel_id.or(interaction.channel.as_ref().map(|room| room.id))?;
    let told = interaction.channel.as_ref().filter(|room| room.id == channel);
    let room = told.cloned().or_else(|| rooms.find_channel(channel));
    let source = place_source(channel, interaction.guild_id, room.as_ref());
    Some(with_author(user, member, Source { platform: platform.to_owned(), ..source }))
}

/// Returns the place of a channel: outside a guild a direct message, and a thread only if it is known to be one.
fn place_source(channel: Id, guild: Option<Id>, room: Option<&DiscordChannel>) -> Source {
    let room = room.filter(|_| guild.is_some());
    let thread = room.filter(|room| room.is_thread());
    Source {
        chat_id: channel.to_string(),
        chat_type: match (guild, thread) {
            (None, _) => ChatType::Dm,
            (Some(_), None) => ChatType::Group,
            (Some(_), Some(_)) => ChatType::Thread,
        },
        chat_name: room.and_then(|room| room.name.clone()),
        chat_topic: room.and_then(|room| room.topic.clone()),
        thread_id: thread.map(|_| channel.to_string()),
        parent_chat_id: thread.and_then(|room| room.parent_id).map(|id| id.to_string()),
        scope_id: guild.map(|guild| guild.to_string()),
        ..Source::default()
    }
}

fn with_author(user: &User, member: Option<&MemberProfile>, place: Source) -> Source {
    Source {
        user_id: Some(user.id.to_string()),
        user_name: Some(user_name(user, member)),
        user_handle: Some(user.username.clone()),
        is_bot: user.bot,
        ..place
    }
}

/// Returns a person's display name: the guild's nickname, the global name, or the username.
pub(super) fn user_name(user: &User, member: Option<&MemberProfile>) -> String {
    let names = [member.and_then(|member| member.nick.clone()), user.global_name.clone()];
    let shown = names.into_iter().flatten().find(|name| !name.trim().is_empty());
    shown.unwrap_or_else(|| user.username.clone())
}

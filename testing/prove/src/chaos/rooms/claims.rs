//! Predicts which agents see an event, from their claims. It is written from the promise alone, without the gate's
//! code.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use crate::chaos::plan::Place;
use crate::cluster::Cluster;
use crate::setup::{self, Cast};
use crate::stage::DATABASE;

/// Stands for everything on a bot, instead of a chat or a guild.
pub(super) const WHOLE_BOT: &str = "*";

/// Authors that may reach an agent in its claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Welcome {
    Anybody,
    Listed,
    OwnPeople,
}

/// An author.
#[derive(Clone, Debug)]
pub(super) enum Author {
    /// The person bound to this member.
    Of(usize),
    Stranger(String),
    Program(String),
}

/// All claims.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// Claims by bot, and chat or guild.
    given: BTreeMap<(usize, String), (usize, Welcome)>,
    listed: BTreeSet<(usize, String)>,
}

impl Claims {
    /// Gives a chat or a guild of a bot to a member, if it is unclaimed. Returns its holder.
    pub(super) fn give(
        &mut self,
        (bot, what): (usize, &str),
        to: usize,
        welcome: Welcome,
    ) -> usize {
        self.given.entry((bot, what.to_owned())).or_insert((to, welcome)).0
    }

    /// Adds an author to a member's list.
    pub(super) fn list(&mut self, member: usize, author: String) {
        self.listed.insert((member, author));
    }

    /// Returns the members whose agents see an author's message.
    pub(super) fn seen_by(&self, bot: usize, author: &Author, place: &Place) -> Vec<usize> {
        let own = match author {
            Author::Of(member) => Some(*member),
            Author::Stranger(_) => None,
            Author::Program(_) => return Vec::new(),
        };
        let is_alone_with_own = place.scope.is_none() && own.is_some();
        let holder = if is_alone_with_own { None } else { self.holder(bot, place) };
        let invited = holder.filter(|(member, welcome)| match welcome {
            Welcome::Anybody => true,
            Welcome::OwnPeople => false,
            Welcome::Listed => {
                let mine = |(of, listed): &(usize, String)| of == member && is(author, listed);
                self.listed.iter().any(mine)
            }
        });
        let seen_by: BTreeSet<usize> =
            own.into_iter().chain(invited.map(|(member, _)| member)).collect();
        seen_by.into_iter().collect()
    }

    /// Returns the holder of a place. The smallest claim wins: the chat, its parent chat, its guild, the bot.
    fn holder(&self, bot: usize, place: &Place) -> Option<(usize, Welcome)> {
        let Place { chat, scope, parent } = place;
        let whole_bot = WHOLE_BOT.to_owned();
        let by_size = [Some(chat), parent.as_ref(), scope.as_ref(), Some(&whole_bot)];
        by_size.into_iter().flatten().find_map(|what| self.given.get(&(bot, what.clone())).copied())
    }

    /// Stores all claims.
    pub(super) fn enter(&self, cluster: &Cluster, cast: &Cast) -> Result<()> {
        for ((bot, what), (member, welcome)) in &self.given {
            let (scope, chat) = match what.chars().next() {
                Some('w') => (what.as_str(), WHOLE_BOT),
                _ => ("", what.as_str()),
            };
            let principal = match welcome {
                Welcome::Anybody => "any",
                Welcome::Listed => "allow-list",
                Welcome::OwnPeople => "owner-only",
            };
            let (bot, member) = (cast.bots[*bot].bot, &cast.members[*member]);
            let give = format!(
                "insert into scope_grants (tenant_id, bot_id, scope_id, chat_id, agent_id, principal)
                 values ('{}', '{bot}', '{scope}', '{chat}', '{}', '{principal}')",
                member.tenant, member.agent
            );
            cluster.ask(DATABASE, &give)?;
        }
        for (member, author) in &self.listed {
            let member = &cast.members[*member];
            let list = format!(
                "insert into listed_authors (tenant_id, agent_id, bot_id, author_id)
                 values ('{}', '{}', '{}', '{author}')",
                member.tenant, member.agent, cast.bots[member.bot].bot
            );
            cluster.ask(DATABASE, &list)?;
        }
        Ok(())
    }
}

fn is(author: &Author, listed: &str) -> bool {
    match author {
        Author::Of(member) => setup::author(*member) == listed,
        Author::Stranger(id) | Author::Program(id) => id == listed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Member 1 has the chat, 2 the guild, and 3 the bot for authors on its list.
    fn claims() -> Claims {
        let mut claims = Claims::default();
        claims.give((0, "r1"), 1, Welcome::Anybody);
        claims.give((0, "r2"), 1, Welcome::OwnPeople);
        claims.give((0, "w1"), 2, Welcome::Anybody);
        claims.give((0, WHOLE_BOT), 3, Welcome::Listed);
        claims.list(3, "friend".to_owned());
        claims
    }

    fn room(chat: &str, scope: &str, parent: Option<&str>) -> Place {
        let parent = parent.map(str::to_owned);
        Place { chat: chat.to_owned(), scope: Some(scope.to_owned()), parent }
    }

    #[test]
    fn own_agents_see_everything_and_holders_what_they_are_open_to() {
        let stranger = || Author::Stranger("friend".to_owned());
        let unknown = || Author::Stranger("unknown".to_owned());
        let cases = [
            ("their own and the holder", Author::Of(9), room("r1", "w1", None), vec![1, 9]),
            ("the holder's person", Author::Of(1), room("r1", "w1", None), vec![1]),
            ("a stranger", unknown(), room("r1", "w1", None), vec![1]),
            ("a thread is its room's", unknown(), room("t", "w1", Some("r1")), vec![1]),
            ("not welcome, though the guild is open", unknown(), room("r2", "w1", None), vec![]),
            ("the guild's", unknown(), room("r3", "w1", None), vec![2]),
            ("the bot's, by list", stranger(), room("r3", "w3", None), vec![3]),
            ("on no list", unknown(), room("r3", "w3", None), vec![]),
            ("alone with their own", Author::Of(9), Place::direct("r1"), vec![9]),
            ("a stranger alone with the bot", stranger(), Place::direct("d"), vec![3]),
            ("a program", Author::Program("p".to_owned()), room("r1", "w1", None), vec![]),
        ];
        for (name, author, place, want) in cases {
            assert_eq!(claims().seen_by(0, &author, &place), want, "{name}");
        }
        assert_eq!(claims().seen_by(1, &unknown(), &room("r1", "w1", None)), [0; 0], "another bot");
    }
}

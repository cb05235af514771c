//! Creates rooms: chats that people of many tenants share, each bound to their own agent, with strangers and a program.
//! Some rooms, guilds and a bot also belong to an agent.

mod claims;
mod movers;

use std::collections::BTreeSet;

use anyhow::Result;

use super::plan::{Conversation, Place};
use crate::chance::Dice;
use crate::cluster::Cluster;
use crate::setup::{self, Cast};
use claims::{Author, Claims, Welcome};
pub use movers::Mover;

/// Number of tenants that share a room, if its bot has so many.
pub const TENANTS: usize = 5;

/// Number of unbound people in each room.
const STRANGERS: usize = 2;

/// A room and its members.
#[derive(Debug)]
struct Room {
    number: usize,
    bot: usize,
    /// Members whose people write there: of several tenants, and two of one tenant.
    members: Vec<usize>,
}

/// All rooms of a world.
#[derive(Debug, Default)]
pub struct Rooms {
    /// Conversations, with the agents that see them.
    pub conversations: Vec<Conversation>,
    /// People that lose and regain access.
    pub movers: Vec<Mover>,
}

/// Creates this many rooms, and stores their claims.
pub fn enter(seed: u64, cluster: &Cluster, cast: &Cast, rooms: usize) -> Result<Rooms> {
    let mut dice = Dice::of(seed, 5);
    let rooms: Vec<Room> = (0..rooms).map(|number| Room::of(cast, number, &mut dice)).collect();
    let mut claims = Claims::default();
    for room in &rooms {
        room.claim(&mut claims);
    }
    claims.enter(cluster, cast)?;
    let movers = if rooms.is_empty() { vec![] } else { movers::enter(cluster, cast)? };
    let conversations = rooms.iter().flat_map(|room| room.conversations(&claims)).collect();
    Ok(Rooms { conversations, movers })
}

impl Room {
    fn of(cast: &Cast, number: usize, dice: &mut Dice) -> Self {
        let bot = number % cast.bots.len();
        let mut here: Vec<usize> =
            (0..cast.members.len()).filter(|member| cast.members[*member].bot == bot).collect();
        let (mut members, mut tenants) = (Vec::new(), BTreeSet::new());
        while tenants.len() < TENANTS && !here.is_empty() {
            let member = here.swap_remove(dice.below(here.len()));
            if tenants.insert(cast.members[member].tenant) {
                members.push(member);
            }
        }
        // A second agent of one tenant, which the tenant alone does not distinguish.
        let is_sibling = |member: &&usize| tenants.contains(&cast.members[**member].tenant);
        members.extend(here.iter().find(is_sibling));
        Self { number, bot, members }
    }

    /// Claims the room, in a way that depends on its number.
    fn claim(&self, claims: &mut Claims) {
        let [one, other] = [0, 1].map(|nth| self.members[nth % self.members.len()]);
        let stranger = self.stranger(0);
        match self.number % 5 {
            0 => {
                claims.give((self.bot, &self.chat()), one, Welcome::Anybody);
            }
            1 => {
                let holder = claims.give((self.bot, &self.guild()), one, Welcome::Listed);
                claims.list(holder, stranger);
            }
            2 => {
                claims.give((self.bot, &self.chat()), one, Welcome::OwnPeople);
                claims.give((self.bot, &self.guild()), other, Welcome::Anybody);
            }
            3 => {
                let holder = claims.give((self.bot, claims::WHOLE_BOT), one, Welcome::Listed);
                claims.list(holder, stranger);
            }
            _ => {}
        }
    }

    /// Returns the conversations of all authors in the room, in its thread, and in private with the bot.
    fn conversations(&self, claims: &Claims) -> Vec<Conversation> {
        let members = self.members.iter().map(|member| Author::Of(*member));
        let strangers = (0..STRANGERS).map(|nth| Author::Stranger(self.stranger(nth)));
        let program = Author::Program(format!("p{}", self.number));
        let authors: Vec<Author> = members.chain(strangers).chain([program]).collect();
        let of = |author: &Author, place: Place| Conversation {
            bot: self.bot,
            author: author.id(),
            is_program: matches!(author, Author::Program(_)),
            seen_by: claims.seen_by(self.bot, author, &place),
            is_shared: place.scope.is_some(),
            is_flood: false,
            place,
        };
        let direct = |author: &Author| Place::direct(&format!("d{}-{}", self.number, author.id()));
        let in_room = authors.iter().map(|author| of(author, self.room()));
        let in_thread = authors.iter().map(|author| of(author, self.thread()));
        let alone = authors.iter().map(|author| of(author, direct(author)));
        in_room.chain(in_thread).chain(alone).collect()
    }

    fn room(&self) -> Place {
        Place { chat: self.chat(), scope: Some(self.guild()), parent: None }
    }

    fn thread(&self) -> Place {
        let chat = format!("{}-thread", self.chat());
        Place { chat, scope: Some(self.guild()), parent: Some(self.chat()) }
    }

    fn chat(&self) -> String {
        format!("r{:06}", self.number)
    }

    fn guild(&self) -> String {
        format!("w{:06}", self.number)
    }

    fn stranger(&self, nth: usize) -> String {
        format!("u{}-{nth}", self.number)
    }
}

impl Author {
    /// Returns the platform's id of the author.
    fn id(&self) -> String {
        match self {
            Self::Of(member) => setup::author(*member),
            Self::Stranger(id) | Self::Program(id) => id.clone(),
        }
    }
}

//! Puts items on shelves: skills that change again and again, and data, each under its own name.

use nightdesk_judge::Event;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{AGAIN_MS, ATTEMPTS_MAX, Diary};
use crate::chance::Dice;
use crate::chaos::asking::Heard;
use crate::chaos::plan::Plan;

/// Maximum number of changes of a skill before the next skill. The desk stores more versions.
const CHANGES_MAX: u64 = 30;

/// Percentages of changes that repeat the current version, and that restore an older one.
const REPEATED_PERCENT: u64 = 10;
const TAKEN_BACK_PERCENT: u64 = 10;
const EITHER_PERCENT: u64 = REPEATED_PERCENT + TAKEN_BACK_PERCENT;

/// An item on a shelf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Its name in histories and in searches.
    pub(super) name: String,
    /// Its owner.
    pub(super) member: usize,
    pub(super) kind: Kind,
}

/// Kind of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Skill,
    /// Data, with its id if it is known.
    Data(Option<String>),
}

/// Returns the name of a member's item.
fn named(kind: &str, name: &str) -> String {
    format!("{kind}{name}")
}

/// Returns the member whose item has this name.
pub(super) fn member_of(name: &str) -> Option<usize> {
    let number = name.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    number.split('x').next()?.parse().ok()
}

/// A skill that changes.
#[derive(Debug)]
pub(super) struct Skill {
    member: usize,
    name: String,
    changes: u64,
}

impl Skill {
    /// Returns a new skill.
    pub(super) fn new(member: usize, name: &str) -> Self {
        Self { member, name: named("skill", name), changes: 0 }
    }

    /// Changes the skill. Returns it if it can change again: not if a node that gave no answer may still put its
    /// version.
    pub(super) async fn change(mut self, diary: &Diary, dice: &mut Dice) -> Option<Self> {
        if self.changes == 0 {
            let (name, member) = (self.name.clone(), self.member);
            diary.items().push(Item { name, member, kind: Kind::Skill });
        }
        let change = match dice.throw() % 100 {
            0..REPEATED_PERCENT => self.changes,
            REPEATED_PERCENT..EITHER_PERCENT => self.changes.saturating_sub(1),
            _ => self.changes + 1,
        };
        self.changes = self.changes.max(change);
        let words = format!("{} as of {change}\n", self.name);
        let body = json!({ "name": self.name, "source": words, "overwrite": true });
        let put = Put { member: self.member, item: &self.name, words: &words, body };
        let told = put.until_clear(diary, ("/v1/skills", "version"), dice).await;
        (told.version.is_some() && !told.in_doubt && self.changes < CHANGES_MAX).then_some(self)
    }
}

/// Puts data.
pub(super) async fn data(diary: &Diary, member: usize, name: &str, dice: &mut Dice) {
    let name = named("data", name);
    let words = format!("{name} is a number\nthat nobody else has");
    let body = json!({ "content": words, "tags": ["chaos"] });
    let put = Put { member, item: &name, words: &words, body };
    let told = put.until_clear(diary, ("/v1/data", "id"), dice).await;
    diary.items().push(Item { name, member, kind: Kind::Data(told.version) });
}

/// A write to a shelf.
struct Put<'a> {
    member: usize,
    item: &'a str,
    words: &'a str,
    body: Value,
}

/// The result of a write.
struct Told {
    version: Option<String>,
    /// True if a node gave no clear answer, and may still execute the write.
    in_doubt: bool,
}

impl Put<'_> {
    /// Sends the write to one node after the other until one names the stored version.
    async fn until_clear(
        &self,
        diary: &Diary,
        (path, version): (&str, &str),
        dice: &mut Dice,
    ) -> Told {
        let mut in_doubt = false;
        for _ in 0..ATTEMPTS_MAX {
            let node = diary.plan.nodes[dice.below(diary.plan.nodes.len())];
            let request = self.begins(diary);
            let heard = diary.ask(node, self.member, (path, Some(&self.body))).await;
            in_doubt |= may_be_done(&heard);
            let version = told(&heard, version);
            diary.notes.note(Event::ShelfAnswer { request, version: version.clone() });
            if version.is_some() || diary.is_stopping() {
                return Told { version, in_doubt };
            }
            sleep(dice.between_ms(AGAIN_MS.0, AGAIN_MS.1)).await;
        }
        Told { version: None, in_doubt: true }
    }

    fn begins(&self, diary: &Diary) -> String {
        let request = diary.name("put");
        diary.notes.note(Event::ShelfPut {
            request: request.clone(),
            agent: Plan::agent(self.member),
            item: self.item.to_owned(),
            words: self.words.to_owned(),
        });
        request
    }
}

/// Returns the version that an answer names.
fn told(heard: &Heard, key: &str) -> Option<String> {
    match heard {
        Heard::Answer(200, said) => said[key].as_str().map(str::to_owned),
        Heard::Nobody | Heard::Nothing | Heard::Answer(..) => None,
    }
}

/// Returns true if a node that gave this answer may still execute the request.
const fn may_be_done(heard: &Heard) -> bool {
    match heard {
        Heard::Nobody | Heard::Answer(200 | 400..500, _) => false,
        Heard::Nothing | Heard::Answer(..) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_whose_it_is() {
        for kind in ["skill", "data"] {
            assert_eq!(member_of(&named(kind, "17x4")), Some(17));
        }
        assert_eq!(member_of("something else"), None);
    }

    #[test]
    fn only_a_version_is_a_clear_answer() {
        let cases = [
            (Heard::Nobody, (None, false)),
            (Heard::Nothing, (None, true)),
            (Heard::Answer(200, json!({ "version": "v1" })), (Some("v1"), false)),
            (Heard::Answer(429, json!({})), (None, false)),
            (Heard::Answer(503, json!({})), (None, true)),
        ];
        for (heard, (version, in_doubt)) in cases {
            assert_eq!(told(&heard, "version").as_deref(), version, "{heard:?}");
            assert_eq!(may_be_done(&heard), in_doubt, "{heard:?}");
        }
    }
}

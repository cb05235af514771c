//! A writer: an agent that writes and asks, keeps skills and data, and asks again what it was told.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::Diary;
use super::post::{Letter, Op};
use super::put::Skill;
use super::who::Writer;
use crate::chance::Dice;

/// How long a writer rests between two things, in milliseconds.
const REST_MS: (u64, u64) = (150, 700);

/// How long after it was answered somebody asks again. By then also the latest reply was said.
const ASKED_AGAIN_AFTER: Duration = Duration::from_secs(6);

/// What a writer does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Writes,
    /// It writes to whom it may not.
    Tries,
    Asks,
    KeepsSkill,
    KeepsData,
}

impl Next {
    const fn thrown(dice: &mut Dice) -> Self {
        match dice.throw() % 100 {
            0..35 => Self::Writes,
            35..50 => Self::Tries,
            50..70 => Self::Asks,
            70..90 => Self::KeepsSkill,
            _ => Self::KeepsData,
        }
    }
}

/// Lives until it is told to stop, and then hears how what it asked has ended.
pub(super) async fn live(diary: Arc<Diary>, number: usize) {
    let writer = &diary.plan.letters[number];
    let mut dice = Dice::of(diary.plan.seed, 8_000 + number as u64);
    let mut pen = Pen {
        diary: &diary,
        writer,
        written: 0,
        tried: number,
        asked: VecDeque::new(),
        skill: None,
    };
    while !diary.is_stopping() {
        pen.does(Next::thrown(&mut dice), &mut dice).await;
        pen.asks_again(&mut dice).await;
        sleep(dice.between_ms(REST_MS.0, REST_MS.1)).await;
    }
    while let Some((_, letter)) = pen.asked.pop_front() {
        letter.send(&diary, &mut dice).await;
    }
}

struct Pen<'a> {
    diary: &'a Diary,
    writer: &'a Writer,
    /// How much it has written, so that everything has a name.
    written: u64,
    /// How often it wrote to whom it may not: to each of them in turn.
    tried: usize,
    /// What it asked, and when it asks again how that ended.
    asked: VecDeque<(Instant, Letter)>,
    skill: Option<Skill>,
}

impl Pen<'_> {
    async fn does(&mut self, next: Next, dice: &mut Dice) {
        self.written += 1;
        let name = format!("{}x{}", self.writer.member, self.written);
        match next {
            Next::Writes => {
                let friend = self.friend(dice);
                self.writes(friend, (name, Op::thrown(dice)), dice).await;
            }
            Next::Tries => {
                self.tried += 1;
                let stranger = self.writer.strangers.iter().cycle().nth(self.tried).copied();
                self.writes(stranger, (name, Op::thrown(dice)), dice).await;
            }
            Next::Asks => {
                let friend = self.friend(dice);
                self.writes(friend, (name, Op::Exchange), dice).await;
            }
            Next::KeepsSkill => {
                let skill = match self.skill.take() {
                    Some(skill) => skill,
                    None => Skill::new(self.writer.member, &name),
                };
                self.skill = skill.change(self.diary, dice).await;
            }
            Next::KeepsData => super::put::data(self.diary, self.writer.member, &name, dice).await,
        }
    }

    fn friend(&self, dice: &mut Dice) -> Option<usize> {
        self.writer.friends.get(dice.below(self.writer.friends.len())).copied()
    }

    async fn writes(&mut self, to: Option<usize>, (name, op): (String, Op), dice: &mut Dice) {
        let Some(to) = to else { return };
        let may = self.writer.friends.contains(&to);
        let letter = Letter { from: self.writer.member, to, nonce: format!("l{name}"), may, op };
        letter.begins(self.diary);
        let is_answered = letter.send(self.diary, dice).await;
        if op == Op::Exchange && is_answered {
            self.asked.push_back((Instant::now() + ASKED_AGAIN_AFTER, letter));
        }
    }

    /// Asks again what it asked a while ago: the answer must be the same.
    async fn asks_again(&mut self, dice: &mut Dice) {
        let now = Instant::now();
        while let Some((_, letter)) = self.asked.pop_front_if(|(at, _)| *at <= now) {
            letter.send(self.diary, dice).await;
        }
    }
}

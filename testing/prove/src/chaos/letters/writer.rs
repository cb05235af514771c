//! Simulates an agent that writes and asks, puts skills and data, and repeats its earlier questions.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::Diary;
use super::post::{Letter, Op};
use super::put::Skill;
use super::who::Writer;
use crate::chance::Dice;

/// Range of the pause between two steps, in milliseconds.
const REST_MS: (u64, u64) = (150, 700);

/// Time after an answer until the question is repeated. By then the latest reply was sent.
const ASKED_AGAIN_AFTER: Duration = Duration::from_secs(6);

/// The next step of a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Writes,
    /// Writes to an agent to which it may not write.
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

/// Runs until the stop command, and then waits for the results of its questions.
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
    /// Number of items written so far, which makes their names unique.
    written: u64,
    /// Number of letters to agents to which it may not write: each of them in turn.
    tried: usize,
    /// Letters that asked, with the time at which each is repeated.
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

    /// Repeats earlier questions: the answer must be the same.
    async fn asks_again(&mut self, dice: &mut Dice) {
        let now = Instant::now();
        while let Some((_, letter)) = self.asked.pop_front_if(|(at, _)| *at <= now) {
            letter.send(self.diary, dice).await;
        }
    }
}

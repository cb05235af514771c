//! Compares the inbox with a reference queue (Q6): after any steps in any order, the store answers as a plain list
//! would.

use std::collections::BTreeMap;

use nightdesk_gate::Gate;
use nightdesk_inbox::{
    AcceptRequest, AckOutcome, ParkOutcome, ParkReason, PutOutcome, ReadRequest, ReadResponse,
};
use nightdesk_port::Bot;
use nightdesk_testkit::builders::EventBuilder;
use nightdesk_types::{Seq, Timestamp};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{TestCaseError, TestRunner};
use tokio::runtime::Handle;

use crate::Harness;
use crate::cast::{Cast, Line, Person};

mod queue;

use queue::Queue;

/// Plays random steps on a store and on the reference queue, and compares them. Every case has its own agent. It needs
/// a multi-threaded runtime.
pub async fn inbox_follows_the_model(harness: &impl Harness, cases: u32) {
    let cast = Cast::of(harness).await;
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let runtime = Handle::current();
    let played = std::cell::Cell::new(0);
    let outcome = tokio::task::block_in_place(|| {
        TestRunner::new(config).run(&steps(), |steps| {
            played.set(played.get() + 1);
            runtime.block_on(play(&cast, &format!("agent-{}", played.get()), steps))
        })
    });
    if let Err(failure) = outcome {
        panic!("the store does not follow the model: {failure}");
    }
}

/// A step on an inbox.
#[derive(Clone, Debug)]
enum Step {
    /// Stores a new event.
    Put,
    /// Stores an event that no client could take.
    PutUnsendable,
    /// Stores an event again.
    Repeat(Index),
    /// Reads on with the line.
    Read(usize),
    /// Acks an entry that the line was handed.
    Ack(Index),
    /// Acks an entry that the line has acked.
    AckAgain(Index),
    /// Acks and parks an entry with a replaced line.
    Meddle(Index),
    /// Parks an entry with the line, waiting or not.
    Park(Index),
    /// Resubmits an entry as an operator, parked or not.
    Resubmit(Index),
    /// Dials again. The line before was in vain, or it was not.
    Redial { in_vain: bool },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => Just(Step::Put),
        1 => Just(Step::PutUnsendable),
        2 => any::<Index>().prop_map(Step::Repeat),
        8 => (0..5_usize).prop_map(Step::Read),
        10 => any::<Index>().prop_map(Step::Ack),
        2 => any::<Index>().prop_map(Step::AckAgain),
        2 => any::<Index>().prop_map(Step::Meddle),
        3 => any::<Index>().prop_map(Step::Park),
        2 => any::<Index>().prop_map(Step::Resubmit),
        5 => any::<bool>().prop_map(|in_vain| Step::Redial { in_vain }),
    ];
    prop::collection::vec(step, 1..40)
}

/// A store and the reference queue.
struct Game<'c> {
    cast: &'c Cast<'c>,
    gate: Gate,
    agent: Person,
    line: Line,
    replaced: Option<Line>,
    /// Acceptance time of each entry, as it was handed over.
    taken_at: BTreeMap<i64, Timestamp>,
    queue: Queue,
}

type Played = Result<(), TestCaseError>;

async fn play(cast: &Cast<'_>, name: &str, steps: Vec<Step>) -> Played {
    let agent = cast.person(name).await;
    let line = cast.line(&agent).await;
    let gate = Gate::new(cast.harness.gate());
    let queue = Queue::default();
    let taken_at = BTreeMap::new();
    let mut both = Game { cast, gate, agent, line, replaced: None, taken_at, queue };
    for step in steps {
        both.step(step).await?;
    }
    both.compare().await
}

impl Game<'_> {
    async fn step(&mut self, step: Step) -> Played {
        match step {
            Step::Put => self.put().await,
            Step::PutUnsendable => self.put_unsendable().await,
            Step::Repeat(pick) => self.repeat(pick).await,
            Step::Read(entries_max) => self.read(entries_max).await,
            Step::Ack(pick) => self.ack(pick).await,
            Step::AckAgain(pick) => self.ack_again(pick).await,
            Step::Meddle(pick) => self.meddle(pick).await,
            Step::Park(pick) => self.park(pick).await,
            Step::Resubmit(pick) => self.resubmit(pick).await,
            Step::Redial { in_vain } => self.redial(in_vain).await,
        }
    }

    async fn accept(&self, event: &EventBuilder, bot: &Bot) -> PutOutcome {
        let admitted = event.admitted(bot, &self.gate).await;
        let accept = AcceptRequest::from_event(&admitted.expect("the agent is bound"), None);
        self.cast.accept(&[accept]).await.pop().expect("an answer per ask")
    }

    fn event(&self, number: usize) -> EventBuilder {
        let Person { author, .. } = &self.agent;
        self.agent.says(number).keyed(format!("{author}-{number}"))
    }

    async fn put(&mut self) -> Played {
        let put = self.accept(&self.event(self.queue.puts()), &self.cast.bot).await;
        prop_assert_eq!(stored(put)?, (self.queue.put(), false));
        Ok(())
    }

    async fn put_unsendable(&mut self) -> Played {
        // The stock client would crash on the search for the session of this address.
        let event = self.event(self.queue.puts()).in_chat("++");
        let bot = Bot { platform: "whatsapp".to_owned(), ..self.cast.bot.clone() };
        let put = self.accept(&event, &bot).await;
        prop_assert_eq!(stored(put)?, (self.queue.put_unsendable(), true));
        Ok(())
    }

    async fn repeat(&mut self, pick: Index) -> Played {
        if self.queue.puts() > 0 {
            let event = self.event(pick.index(self.queue.puts()));
            let put = self.accept(&event, &self.cast.bot).await;
            prop_assert_eq!(put, PutOutcome::Duplicate);
        }
        Ok(())
    }

    async fn read(&mut self, entries_max: usize) -> Played {
        let after = Seq::new(self.queue.read_up_to());
        let waiting = self.cast.ask(ReadRequest { after, entries_max, ..self.line.ask() }).await;
        let ReadResponse::Entries(entries) = waiting else {
            return Err(unlike("entries", &waiting));
        };
        self.taken_at.extend(entries.iter().map(|entry| (entry.seq.get(), entry.at)));
        let got: Vec<i64> = entries.iter().map(|entry| entry.seq.get()).collect();
        prop_assert_eq!(got, self.queue.read(entries_max));
        Ok(())
    }

    async fn ack(&mut self, pick: Index) -> Played {
        let Some(range) = self.queue.pick_to_ack(pick) else { return Ok(()) };
        let ack = self.ack_on_time(range).await;
        prop_assert_eq!(ack, AckOutcome::Moved(Seq::new(self.queue.ack(range))));
        Ok(())
    }

    async fn ack_again(&mut self, pick: Index) -> Played {
        let Some(acked) = self.queue.pick_acked(pick) else { return Ok(()) };
        let ack = self.ack_on_time((acked, acked)).await;
        prop_assert_eq!(ack, AckOutcome::Moved(Seq::new(self.queue.cursor())));
        Ok(())
    }

    /// Acks with the true acceptance time of the last entry, as a line does.
    async fn ack_on_time(&self, range: (i64, i64)) -> AckOutcome {
        let mut acks = self.line.acks(&[range]);
        acks.ranges[0].at = self.taken_at[&range.1];
        let answers = self.cast.harness.inbox().ack(&[acks]).await;
        answers.expect("ack entries").pop().expect("an answer per ask")
    }

    async fn meddle(&mut self, pick: Index) -> Played {
        let Some((old, number)) = self.replaced.zip(self.queue.pick(pick)) else { return Ok(()) };
        prop_assert_eq!(self.cast.ack(&old, &[(1, number)]).await, AckOutcome::LineReplaced);
        prop_assert_eq!(self.cast.ask(old.ask()).await, ReadResponse::LineReplaced);
        prop_assert_eq!(self.park_on(&old, number).await, ParkOutcome::LineReplaced);
        Ok(())
    }

    async fn park(&mut self, pick: Index) -> Played {
        let Some(number) = self.queue.pick(pick) else { return Ok(()) };
        let want =
            if self.queue.park(number) { ParkOutcome::Parked } else { ParkOutcome::NotWaiting };
        prop_assert_eq!(self.park_on(&self.line, number).await, want);
        Ok(())
    }

    async fn park_on(&self, line: &Line, number: i64) -> ParkOutcome {
        let inbox = self.cast.harness.inbox();
        let parked = inbox.park(&line.claim, Seq::new(number), ParkReason::Operator).await;
        parked.expect("park an entry")
    }

    async fn resubmit(&mut self, pick: Index) -> Played {
        let Some(number) = self.queue.pick(pick) else { return Ok(()) };
        let Person { scope, agent, .. } = self.agent;
        let again = self.cast.harness.aside().resubmit(scope, agent, Seq::new(number)).await;
        let again = again.expect("resubmit an entry").map(Seq::get);
        prop_assert_eq!(again, self.queue.resubmit(number));
        Ok(())
    }

    async fn redial(&mut self, in_vain: bool) -> Played {
        let tried = self.queue.oldest_waiting().filter(|_| in_vain);
        self.cast.close(&self.line, tried).await;
        let parked = self.queue.redial(tried);
        let line = self.cast.line(&self.agent).await;
        prop_assert!(self.line.taken.generation < line.taken.generation);
        prop_assert_eq!(line.taken.parked.map(Seq::get), parked);
        prop_assert_eq!(line.taken.acked.get(), self.queue.cursor());
        prop_assert_eq!(line.taken.head.get(), self.queue.head());
        self.replaced = Some(std::mem::replace(&mut self.line, line));
        Ok(())
    }

    /// Checks at the end that a new line gets everything that waits, and that the rest is accounted for.
    async fn compare(&mut self) -> Played {
        self.redial(false).await?;
        self.read(usize::from(u16::MAX)).await?;
        let Person { scope, agent, .. } = self.agent;
        let parked = self.cast.harness.parked(scope, agent).await;
        let parked: Vec<i64> = parked.iter().map(|(seq, _)| seq.get()).collect();
        prop_assert_eq!(parked, self.queue.parked());
        Ok(())
    }
}

/// Returns the number of an event's only entry, and true if it was parked.
fn stored(put: PutOutcome) -> Result<(i64, bool), TestCaseError> {
    match put {
        PutOutcome::Stored(stored) if stored.len() == 1 => {
            Ok((stored[0].seq.get(), stored[0].parked))
        }
        PutOutcome::Stored(_) | PutOutcome::Duplicate | PutOutcome::Stale | PutOutcome::Fenced => {
            Err(unlike("one entry", &put))
        }
    }
}

fn unlike(want: &str, got: &impl std::fmt::Debug) -> TestCaseError {
    TestCaseError::fail(format!("{want} was to come, not {got:?}"))
}

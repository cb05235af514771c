//! Changes bindings and grants continuously over a separate connection.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};

use crate::cluster::Cluster;
use crate::psql::Looker;
use crate::setup::{self, Cast, Member};
use crate::stage::DATABASE;

/// Interval between two changes of a binding, and of a grant.
const EVERY: Duration = Duration::from_millis(100);

/// Number of agents, the first ones, whose binding and grant change.
pub const HOT: usize = 8;

/// The log of changes: a row has the commit time of its change.
const LOG: &str = "create table changes_made
    (agent_id uuid not null, chat_id text not null, held boolean not null);
    create extension pg_stat_statements";

/// The thread that makes the changes.
#[derive(Debug)]
pub struct Changes {
    tell: Sender<()>,
    thread: JoinHandle<Result<u64>>,
}

impl Changes {
    /// Creates the log of changes, and enables statement counting.
    pub fn prepare(cluster: &Cluster) -> Result<()> {
        cluster.ask(DATABASE, LOG).map(drop)
    }

    /// Begins the changes. Initially every binding and grant exists.
    pub fn begin(cluster: &Cluster, cast: &Cast) -> Self {
        let mut looker = Looker::at(cluster.program("psql"), cluster.admin_url(DATABASE));
        let bots: Vec<String> = cast.bots.iter().map(|bot| bot.bot.to_string()).collect();
        let hot: Vec<(Member, String)> = cast.members[..HOT]
            .iter()
            .map(|member| (member.clone(), bots[member.bot].clone()))
            .collect();
        let (tell, told) = mpsc::channel();
        let thread = thread::spawn(move || {
            let mut made = 0;
            for round in 0.. {
                let is_over = told.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout);
                // After an even number of changes everything exists again.
                if is_over && round % (2 * HOT) == 0 {
                    break;
                }
                let (agent, held) = (round % HOT, round / HOT % 2 == 1);
                for change in [binding(&hot[agent], agent, held), grant(&hot[agent], agent, held)] {
                    looker.ask(&change).context("could not make a change")?;
                    made += 1;
                }
            }
            Ok(made)
        });
        Self { tell, thread }
    }

    /// Ends the changes. Returns their number.
    pub fn end(self) -> Result<u64> {
        drop(self.tell);
        self.thread.join().map_err(|_| anyhow!("the changes ended badly"))?
    }
}

fn binding((member, bot): &(Member, String), number: usize, held: bool) -> String {
    let Member { tenant, agent, .. } = member;
    let author = setup::author(number);
    let change = if held {
        format!(
            "insert into bindings (tenant_id, bot_id, author_id, agent_id)
             values ('{tenant}', '{bot}', '{author}', '{agent}')"
        )
    } else {
        format!("delete from bindings where bot_id = '{bot}' and author_id = '{author}'")
    };
    noted(&change, member, &setup::chat(number), held)
}

fn grant((member, bot): &(Member, String), number: usize, held: bool) -> String {
    let Member { tenant, agent, .. } = member;
    let chat = setup::open_chat(number);
    let change = if held {
        format!(
            "insert into scope_grants (tenant_id, bot_id, chat_id, agent_id, principal)
             values ('{tenant}', '{bot}', '{chat}', '{agent}', 'any')"
        )
    } else {
        format!("delete from scope_grants where bot_id = '{bot}' and chat_id = '{chat}'")
    };
    noted(&change, member, &chat, held)
}

/// Returns a statement that makes a change and logs the new state in the same commit.
fn noted(change: &str, member: &Member, chat: &str, held: bool) -> String {
    let agent = member.agent;
    format!(
        "with changed as ({change} returning true)
         insert into changes_made select '{agent}', '{chat}', {held} from changed"
    )
}

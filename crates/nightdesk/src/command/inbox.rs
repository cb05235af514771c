//! Commands about an agent's inbox.

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use nightdesk_inbox::{Aside, Listed, Parked, Shown, State};
use nightdesk_register::Register;
use nightdesk_types::Seq;
use nightdesk_types::limits::SWEEP_EVERY;
use serde_json::{Value, json};

use super::list::second;
use super::names::Whose;
use crate::ui::Answer;

#[derive(Debug, Subcommand)]
pub(crate) enum Inbox {
    /// List waiting and parked entries, without their content.
    #[command(after_help = "Example:\n  nightdesk inbox list --tenant acme --agent helper")]
    List {
        #[command(flatten)]
        whose: Whose,
        /// Begin after this number: the last one of the previous page.
        #[arg(long, default_value_t = 0, value_name = "SEQ")]
        after: i64,
    },
    /// Show one entry: its source and its state.
    #[command(after_help = "Example:\n  nightdesk inbox show --tenant acme --agent helper --seq 7")]
    Show {
        #[command(flatten)]
        which: Which,
        /// Also show its content.
        #[arg(long)]
        body: bool,
    },
    /// Put a parked entry into the inbox again, under a new number.
    #[command(
        after_help = "Example:\n  nightdesk inbox resubmit --tenant acme --agent helper --seq 7"
    )]
    Resubmit(Which),
    /// Park a waiting entry, so that the entries behind it get through.
    #[command(after_help = "Example:\n  nightdesk inbox park --tenant acme --agent helper --seq 7")]
    Park(Which),
}

#[derive(Debug, Args)]
pub(crate) struct Which {
    #[command(flatten)]
    whose: Whose,
    /// The entry's number.
    #[arg(long)]
    seq: i64,
}

/// Runs a command about an inbox.
pub(super) async fn run(
    register: &Register,
    inbox: &dyn Aside,
    command: Inbox,
) -> anyhow::Result<Answer> {
    match command {
        Inbox::List { whose, after } => {
            let (scope, agent) = whose.found(register).await?;
            let overview = inbox.overview(scope, agent, Seq::new(after)).await?;
            let overview = overview.context("the agent has no inbox")?;
            let parked = |(listed, parked): &(Listed, Parked)| row(listed, Some(parked));
            Ok(Answer::One(json!({
                "head": overview.head,
                "acked": overview.acked,
                "waiting": overview.waiting.iter().map(|one| row(one, None)).collect::<Vec<_>>(),
                "parked": overview.parked.iter().map(parked).collect::<Vec<_>>(),
            })))
        }
        Inbox::Show { which, body } => {
            let (scope, agent) = which.whose.found(register).await?;
            let shown = inbox.show(scope, agent, Seq::new(which.seq)).await?;
            let shown = shown.with_context(|| nothing(which.seq))?;
            Ok(Answer::One(all_of(&shown, body)))
        }
        Inbox::Resubmit(which) => {
            let (scope, agent) = which.whose.found(register).await?;
            let again = inbox.resubmit(scope, agent, Seq::new(which.seq)).await?;
            let again = again.with_context(|| {
                format!(
                    "entry {} is not parked, or was resubmitted already; \
                     `nightdesk inbox show` shows its state",
                    which.seq
                )
            })?;
            // The desk runs in another process: its sweep finds entries for which no bell rang.
            let within = SWEEP_EVERY.as_secs();
            Ok(Answer::One(json!({
                "seq": again.seq, "resubmitted_from": which.seq, "handed_over_within_secs": within,
            })))
        }
        Inbox::Park(which) => {
            let (scope, agent) = which.whose.found(register).await?;
            if !inbox.set_aside(scope, agent, Seq::new(which.seq)).await? {
                bail!(
                    "entry {} does not wait; `nightdesk inbox list` shows waiting ones",
                    which.seq
                );
            }
            Ok(Answer::One(json!({ "seq": which.seq, "parked": true })))
        }
    }
}

fn nothing(seq: i64) -> String {
    format!(
        "there is no entry {seq}: the number was never used, or the entry was acknowledged and deleted; \
         `nightdesk inbox list` shows all entries"
    )
}

fn row(listed: &Listed, parked: Option<&Parked>) -> Value {
    let mut row = json!({
        "seq": listed.seq,
        "at": second(listed.at),
        "bot_id": listed.bot,
        "chat_id": listed.chat_id,
        "body_bytes": listed.body_bytes,
    });
    if let Some(parked) = parked {
        add_parked(&mut row, parked);
    }
    row
}

fn add_parked(row: &mut Value, parked: &Parked) {
    row["reason"] = json!(parked.reason.slug());
    row["parked_at"] = json!(second(parked.at));
    row["resubmitted_as"] = json!(parked.resubmitted_as);
}

fn all_of(shown: &Shown, with_body: bool) -> Value {
    let mut all = row(&shown.listed, None);
    let body: Value = serde_json::from_slice(&shown.body).unwrap_or_default();
    // The source of a passthrough is in `forward`, that of a message in `event`.
    let source = [&body["event"]["source"], &body["forward"]["source"]];
    all["kind"] = body["type"].clone();
    all["source"] = source.into_iter().find(|source| source.is_object()).cloned().into();
    all["resubmitted_from"] = json!(shown.origin);
    match shown.state {
        State::Waiting { tries } => {
            all["state"] = json!("waiting");
            all["tries"] = json!(tries);
        }
        State::Acked { times } => {
            all["state"] = json!("acked");
            all["handed_at"] = json!(times.map(|(handed, _)| second(handed)));
            all["acked_at"] = json!(times.map(|(_, acked)| second(acked)));
        }
        State::Parked(parked) => {
            all["state"] = json!("parked");
            add_parked(&mut all, &parked);
        }
    }
    if with_body {
        all["body"] = body;
    }
    all
}

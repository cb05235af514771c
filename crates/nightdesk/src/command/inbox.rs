//! Commands about an agent's inbox.

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use nightdesk_inbox::{EntryDetails, EntryStatus, EntrySummary, InboxAdmin, ParkRecord};
use nightdesk_register::Register;
use nightdesk_types::Seq;
use nightdesk_types::limits::SWEEP_EVERY;
use serde_json::{Value, json};

use super::list::format_second;
use super::names::AgentArgs;
use crate::ui::CommandOutput;

#[derive(Debug, Subcommand)]
pub(crate) enum InboxSubcommand {
    /// List waiting and parked entries, without their content.
    #[command(after_help = "Example:\n  nightdesk inbox list --tenant acme --agent helper")]
    List {
        #[command(flatten)]
        whose: AgentArgs,
        /// Begin after this number: the last one of the previous page.
        #[arg(long, default_value_t = 0, value_name = "SEQ")]
        after: i64,
    },
    /// Show one entry: its source and its state.
    #[command(after_help = "Example:\n  nightdesk inbox show --tenant acme --agent helper --seq 7")]
    Show {
        #[command(flatten)]
        which: EntryArgs,
        /// Also show its content.
        #[arg(long)]
        body: bool,
    },
    /// Put a parked entry into the inbox again, under a new number.
    #[command(
        after_help = "Example:\n  nightdesk inbox resubmit --tenant acme --agent helper --seq 7"
    )]
    Resubmit(EntryArgs),
    /// Park a waiting entry, so that the entries behind it get through.
    #[command(after_help = "Example:\n  nightdesk inbox park --tenant acme --agent helper --seq 7")]
    Park(EntryArgs),
}

#[derive(Debug, Args)]
pub(crate) struct EntryArgs {
    #[command(flatten)]
    whose: AgentArgs,
    /// The entry's number.
    #[arg(long)]
    seq: i64,
}

/// Runs a command about an inbox.
pub(super) async fn run(
    register: &Register,
    inbox: &dyn InboxAdmin,
    command: InboxSubcommand,
) -> anyhow::Result<CommandOutput> {
    match command {
        InboxSubcommand::List { whose, after } => {
            let (scope, agent) = whose.resolve(register).await?;
            let overview = inbox.overview(scope, agent, Seq::new(after)).await?;
            let overview = overview.context("the agent has no inbox")?;
            let parked = |(listed, parked): &(EntrySummary, ParkRecord)| row(listed, Some(parked));
            Ok(CommandOutput::One(json!({
                "head": overview.head,
                "acked": overview.acked,
                "waiting": overview.waiting.iter().map(|one| row(one, None)).collect::<Vec<_>>(),
                "parked": overview.parked.iter().map(parked).collect::<Vec<_>>(),
            })))
        }
        InboxSubcommand::Show { which, body } => {
            let (scope, agent) = which.whose.resolve(register).await?;
            let shown = inbox.show_entry(scope, agent, Seq::new(which.seq)).await?;
            let shown = shown.with_context(|| no_entry_text(which.seq))?;
            Ok(CommandOutput::One(entry_json(&shown, body)))
        }
        InboxSubcommand::Resubmit(which) => {
            let (scope, agent) = which.whose.resolve(register).await?;
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
            Ok(CommandOutput::One(json!({
                "seq": again, "resubmitted_from": which.seq, "handed_over_within_secs": within,
            })))
        }
        InboxSubcommand::Park(which) => {
            let (scope, agent) = which.whose.resolve(register).await?;
            if !inbox.park_waiting(scope, agent, Seq::new(which.seq)).await? {
                bail!(
                    "entry {} does not wait; `nightdesk inbox list` shows waiting ones",
                    which.seq
                );
            }
            Ok(CommandOutput::One(json!({ "seq": which.seq, "parked": true })))
        }
    }
}

fn no_entry_text(seq: i64) -> String {
    format!(
        "there is no entry {seq}: the number was never used, or the entry was acknowledged and deleted; \
         `nightdesk inbox list` shows all entries"
    )
}

fn row(listed: &EntrySummary, parked: Option<&ParkRecord>) -> Value {
    let mut row = json!({
        "seq": listed.seq,
        "at": format_second(listed.at),
        "bot_id": listed.bot,
        "chat_id": listed.chat_id,
        "body_bytes": listed.body_bytes,
    });
    if let Some(parked) = parked {
        add_parked(&mut row, parked);
    }
    row
}

fn add_parked(row: &mut Value, parked: &ParkRecord) {
    row["reason"] = json!(parked.reason.slug());
    row["parked_at"] = json!(format_second(parked.at));
    row["resubmitted_as"] = json!(parked.resubmitted_as);
}

fn entry_json(shown: &EntryDetails, with_body: bool) -> Value {
    let mut all = row(&shown.summary, None);
    let body: Value = serde_json::from_slice(&shown.body).unwrap_or_default();
    // The source of a passthrough is in `forward`, that of a message in `event`.
    let source = [&body["event"]["source"], &body["forward"]["source"]];
    all["kind"] = body["type"].clone();
    all["source"] = source.into_iter().find(|source| source.is_object()).cloned().into();
    all["resubmitted_from"] = json!(shown.origin);
    match shown.state {
        EntryStatus::Waiting { tries } => {
            all["state"] = json!("waiting");
            all["tries"] = json!(tries);
        }
        EntryStatus::Acked { times } => {
            all["state"] = json!("acked");
            all["handed_at"] = json!(times.map(|(handed, _)| format_second(handed)));
            all["acked_at"] = json!(times.map(|(_, acked)| format_second(acked)));
        }
        EntryStatus::Parked(parked) => {
            all["state"] = json!("parked");
            add_parked(&mut all, &parked);
        }
    }
    if with_body {
        all["body"] = body;
    }
    all
}

//! The course of each scenario.

use tokio::time::sleep;

use super::limits::{
    ANSWER_WAIT, BURST_CHATS, BURST_MESSAGES, BURST_WAIT, INTO_THE_TURN, LONG_TURN_SECS,
    ROW_MESSAGES, STOP_WAIT, STOPPED_TURN_SECS,
};
use super::scenario::{TrialScenario, TrialTransport};
use super::trial::Trial;

/// Plays a scenario. An error means that it could not go on; the judge reads the observations in any case.
#[expect(clippy::cognitive_complexity, reason = "each scenario has one arm")]
pub(super) async fn play(trial: &mut Trial<'_>, scenario: TrialScenario) -> anyhow::Result<()> {
    match scenario {
        TrialScenario::Echo => play_echo(trial).await,
        TrialScenario::BusyDesk => play_busy_desk(trial).await,
        TrialScenario::Chats => play_chats(trial).await,
        TrialScenario::Order => play_order(trial).await,
        TrialScenario::Duplicates => play_duplicates(trial).await,
        TrialScenario::Cuts => play_cuts(trial).await,
        TrialScenario::LostResults => play_row(trial).await,
        TrialScenario::LostAcks => play_lost_acks(trial).await,
        TrialScenario::Replaced => play_replaced(trial).await,
        TrialScenario::Window => play_window(trial).await,
        TrialScenario::Stop => play_stop(trial).await,
        TrialScenario::Kill => play_kill(trial).await,
        TrialScenario::Revoked => play_revoked(trial).await,
        TrialScenario::Forgery => play_forgery(trial).await,
    }
}

/// Invites people and starts the program.
async fn start_with(trial: &mut Trial<'_>, people: usize) -> anyhow::Result<()> {
    trial.invite(people).await?;
    trial.start().await
}

/// A message, and its answer.
async fn ask(trial: &mut Trial<'_>, chat: usize, turn_secs: u32) -> anyhow::Result<()> {
    trial.write(chat, turn_secs).await?;
    trial.wait_for_answers(ANSWER_WAIT).await
}

/// Writes a message whose turn lasts, and returns in the middle of that turn.
async fn begin_long_turn(trial: &mut Trial<'_>, chat: usize, turn_secs: u32) -> anyhow::Result<()> {
    let message = trial.write(chat, turn_secs).await?;
    trial.wait_for_turn(&message).await?;
    sleep(INTO_THE_TURN).await;
    Ok(())
}

async fn play_echo(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    start_with(trial, 1).await?;
    ask(trial, 0, 0).await?;
    ask(trial, 0, 1).await?;
    trial.settle().await;
    Ok(())
}

async fn play_busy_desk(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    trial.invite(1).await?;
    trial.start_while_busy().await?;
    ask(trial, 0, 0).await?;
    trial.settle().await;
    Ok(())
}

/// Messages of three people, one after the other.
async fn play_row(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    start_with(trial, 3).await?;
    for chat in 0..3 {
        ask(trial, chat, 0).await?;
    }
    trial.settle().await;
    Ok(())
}

async fn play_chats(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    start_with(trial, 4).await?;
    let long = trial.write(0, LONG_TURN_SECS).await?;
    trial.wait_for_turn(&long).await?;
    for chat in [1, 2, 3, 1, 0] {
        trial.write(chat, 0).await?;
    }
    trial.wait_for_answers(ANSWER_WAIT).await?;
    trial.settle().await;
    Ok(())
}

async fn play_order(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    start_with(trial, 1).await?;
    trial.write(0, 2).await?;
    for _ in 1..ROW_MESSAGES {
        trial.write(0, 0).await?;
    }
    trial.wait_for_answers(ANSWER_WAIT).await?;
    trial.settle().await;
    Ok(())
}

async fn play_duplicates(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    start_with(trial, 2).await?;
    for turn_secs in [1, 0, 1, 0, 0] {
        ask(trial, 0, turn_secs).await?;
        trial.wait_for_any_acks().await;
    }
    ask(trial, 1, 0).await?;
    trial.settle().await;
    Ok(())
}

async fn play_cuts(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    start_with(trial, 2).await?;
    ask(trial, 0, 0).await?;
    begin_long_turn(trial, 1, LONG_TURN_SECS).await?;
    trial.door().cut();
    trial.wait_for_answers(ANSWER_WAIT).await?;
    trial.wait_for_any_acks().await;
    trial.door().cut();
    ask(trial, 0, 0).await?;
    trial.settle().await;
    Ok(())
}

async fn play_lost_acks(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    start_with(trial, 2).await?;
    ask(trial, 0, 0).await?;
    ask(trial, 1, 0).await?;
    trial.wait_for_any_acks().await;
    trial.door().end_faults();
    match trial.transport() {
        TrialTransport::Line => trial.door().cut(),
        TrialTransport::Polling | TrialTransport::Mcp => trial.replace_line().await?,
        // A lost response was repeated already.
        TrialTransport::Webhook => {}
    }
    ask(trial, 0, 0).await?;
    trial.settle().await;
    Ok(())
}

async fn play_replaced(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    start_with(trial, 1).await?;
    ask(trial, 0, 0).await?;
    trial.settle().await;
    trial.replace_line().await?;
    ask(trial, 0, 0).await?;
    trial.settle().await;
    Ok(())
}

async fn play_window(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    trial.invite(BURST_CHATS).await?;
    for _ in 0..BURST_MESSAGES {
        for chat in 0..BURST_CHATS {
            trial.write(chat, 0).await?;
        }
    }
    trial.start().await?;
    trial.wait_for_answers(BURST_WAIT).await?;
    trial.settle().await;
    Ok(())
}

async fn play_stop(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    start_with(trial, 2).await?;
    begin_long_turn(trial, 0, STOPPED_TURN_SECS).await?;
    trial.stop_turn(0).await?;
    sleep(STOP_WAIT).await;
    ask(trial, 0, 0).await?;
    trial.settle().await;
    Ok(())
}

async fn play_kill(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    start_with(trial, 2).await?;
    ask(trial, 0, 0).await?;
    begin_long_turn(trial, 1, LONG_TURN_SECS).await?;
    trial.kill().await;
    trial.write(0, 0).await?;
    trial.start().await?;
    trial.wait_for_answers(ANSWER_WAIT).await?;
    trial.settle().await;
    Ok(())
}

async fn play_revoked(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    start_with(trial, 1).await?;
    ask(trial, 0, 0).await?;
    trial.revoke().await
}

async fn play_forgery(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    start_with(trial, 1).await?;
    ask(trial, 0, 0).await?;
    trial.forge().await?;
    ask(trial, 0, 0).await?;
    trial.settle().await;
    Ok(())
}

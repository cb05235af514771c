//! One scenario in progress: its agent, the program, the people, and the doors between them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use nightdesk_sdk::{Agent, Event, SendError, Settings};
use serde_json::json;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::door::DeskDoor;
use super::facts::{TimedFact, TrialFact, TrialNotebook};
use super::judge::{is_all_answered, unacked_entries};
use super::limits::{
    ACK_WAIT, BUSY_FOR, LOOK_EVERY, REQUEST_WAIT, RETURN_WAIT, REVOCATION_WAIT, SETTLE_FOR,
    START_WAIT, TURN_WAIT,
};
use super::posts;
use super::program::{ProgramCommand, ProgramOutput, RunningProgram};
use super::scenario::{TrialScenario, TrialTransport};
use super::stage::{TrialAgent, TrialStage};
use super::visitor::{ChatAddress, PageVisitor};
use super::wire::http::PlainHttp;

/// A scenario in progress.
pub(super) struct Trial<'s> {
    stage: &'s TrialStage<'s>,
    agent: TrialAgent,
    notebook: Arc<TrialNotebook>,
    door: DeskDoor,
    page: ChatAddress,
    people: Vec<PageVisitor>,
    watchers: JoinSet<()>,
    command: ProgramCommand,
    /// The address on which the program listens for posts.
    listens_on: SocketAddr,
    program: Option<RunningProgram>,
    output: ProgramOutput,
    /// A word of this scenario, and the number of its messages.
    word: String,
    messages: usize,
}

impl<'s> Trial<'s> {
    /// Creates the agent of a scenario. The program does not run yet.
    pub(super) async fn prepare(
        stage: &'s TrialStage<'s>,
        scenario: TrialScenario,
    ) -> anyhow::Result<Self> {
        let (name, number) = (scenario.name(), scenario as usize);
        let agent = stage.create_agent(&name).await?;
        let notebook = Arc::new(TrialNotebook::new());
        let rules = scenario.rules(stage.transport);
        let door = DeskDoor::open(stage.address(), &notebook, &rules, &stage.tasks).await?;
        let listens_on = super::free_address().await?;
        stage.posts.set_target(&agent.name, listens_on, &notebook, &rules);
        let page = ChatAddress {
            desk: stage.address(),
            path: agent.page.clone(),
            from: format!("10.0.0.{}", number + 1),
        };
        let variables = variables(stage.transport, &agent, &door, listens_on);
        let command = ProgramCommand { words: stage.words.clone(), variables };
        Ok(Self {
            stage,
            agent,
            notebook,
            door,
            page,
            people: Vec::new(),
            watchers: JoinSet::new(),
            command,
            listens_on,
            program: None,
            output: ProgramOutput::default(),
            word: format!("w{number}"),
            messages: 0,
        })
    }

    pub(super) const fn transport(&self) -> TrialTransport {
        self.stage.transport
    }

    pub(super) const fn door(&self) -> &DeskDoor {
        &self.door
    }

    /// Lets people open the page.
    pub(super) async fn invite(&mut self, count: usize) -> anyhow::Result<()> {
        for chat in 0..count {
            let visitor = PageVisitor::open(&self.page, chat).await?;
            self.watchers.spawn(visitor.clone().watch(Arc::clone(&self.notebook)));
            self.people.push(visitor);
        }
        Ok(())
    }

    /// Starts the program, and waits until it has a line or listens.
    pub(super) async fn start(&mut self) -> anyhow::Result<()> {
        let openings = self.openings();
        self.launch()?;
        self.wait_for_start(openings).await
    }

    /// Starts the program while the desk takes no line, and waits until it may have a line.
    pub(super) async fn start_while_busy(&mut self) -> anyhow::Result<()> {
        let openings = self.openings();
        self.launch()?;
        let has_dialled = |facts: &[TimedFact]| facts.iter().any(|it| it.fact == TrialFact::Dial);
        self.notebook.wait_until(START_WAIT, has_dialled).await;
        sleep(BUSY_FOR).await;
        self.door.end_faults();
        self.wait_for_start(openings).await
    }

    fn launch(&mut self) -> anyhow::Result<()> {
        let started = RunningProgram::start(&self.command, &self.notebook, &self.output);
        let program =
            started.with_context(|| format!("could not start {}", self.command.words.join(" ")))?;
        self.program = Some(program);
        Ok(())
    }

    async fn wait_for_start(&mut self, openings: usize) -> anyhow::Result<()> {
        let secs = START_WAIT.as_secs();
        let ready = timeout(START_WAIT, self.wait_for_opening(openings)).await;
        ready.unwrap_or_else(|_| match self.transport() {
            TrialTransport::Webhook => {
                bail!("the program did not listen on the port in PORT within {secs} s")
            }
            TrialTransport::Line | TrialTransport::Polling | TrialTransport::Mcp => {
                bail!("the program opened no line at NIGHTDESK_URL within {secs} s")
            }
        })
    }

    async fn wait_for_opening(&mut self, before: usize) -> anyhow::Result<()> {
        while self.openings() == before {
            self.check_program()?;
            if self.transport() == TrialTransport::Webhook
                && TcpStream::connect(self.listens_on).await.is_ok()
            {
                self.notebook.record(TrialFact::Opening);
            }
            sleep(LOOK_EVERY).await;
        }
        Ok(())
    }

    /// Notes the end of the program, which is then an error.
    fn check_program(&mut self) -> anyhow::Result<()> {
        let Some(program) = &mut self.program else { return Ok(()) };
        program.note_exit();
        let has_ended = |timed: &TimedFact| matches!(timed.fact, TrialFact::Exit { .. });
        ensure!(!self.notebook.facts().iter().any(has_ended), "the program ended");
        Ok(())
    }

    fn openings(&self) -> usize {
        count_openings(&self.notebook.facts())
    }

    /// A person writes a message that asks for a turn of some seconds. Returns its token.
    pub(super) async fn write(&mut self, chat: usize, turn_secs: u32) -> anyhow::Result<String> {
        self.messages += 1;
        let token = format!("{}m{}z", self.word, self.messages);
        let text = if turn_secs == 0 {
            format!("say {token}")
        } else {
            format!("wait {turn_secs} {token}")
        };
        let person = self.people.get(chat).context("no such person")?;
        self.notebook.record(TrialFact::Question { chat, token: token.clone() });
        person.write(&text, &token).await?;
        Ok(token)
    }

    /// Waits for the answers to all messages. A scenario does not go on without them.
    pub(super) async fn wait_for_answers(&self, wait: Duration) -> anyhow::Result<()> {
        let is_answered = self.notebook.wait_until(wait, is_all_answered).await;
        ensure!(is_answered, "not every message was answered within {} s", wait.as_secs());
        Ok(())
    }

    /// Waits until the program took all messages that it answered, and acknowledged them, also if the acks were withheld.
    pub(super) async fn wait_for_any_acks(&self) {
        let has_ack = |facts: &[TimedFact], id: &str| {
            let is_ack =
                |it: &TimedFact| matches!(&it.fact, TrialFact::Ack { entry, .. } if entry == id);
            facts.iter().any(is_ack)
        };
        let all_acked =
            |facts: &[TimedFact]| unacked_entries(facts).iter().all(|id| has_ack(facts, id));
        self.notebook.wait_until(ACK_WAIT, all_acked).await;
    }

    /// Waits for the acks, and then for a while for anything that should not come.
    pub(super) async fn settle(&self) {
        self.notebook.wait_until(ACK_WAIT, |facts| unacked_entries(facts).is_empty()).await;
        sleep(SETTLE_FOR).await;
    }

    /// Waits until the entry of a message was handed over, and its turn has begun.
    pub(super) async fn wait_for_turn(&self, of: &str) -> anyhow::Result<()> {
        let is_delivery = |timed: &TimedFact| matches!(&timed.fact, TrialFact::Delivery { token: Some(token), .. } if token == of);
        let begun = |facts: &[TimedFact]| facts.iter().any(is_delivery);
        ensure!(
            self.notebook.wait_until(TURN_WAIT, begun).await,
            "message {of} was not handed over within {} s",
            TURN_WAIT.as_secs()
        );
        Ok(())
    }

    /// Replaces the program's line by another line of its agent, which ends at once, and waits for its return.
    pub(super) async fn replace_line(&mut self) -> anyhow::Result<()> {
        let openings = self.openings();
        self.open_rival_line().await?;
        let is_back = |facts: &[TimedFact]| count_openings(facts) > openings;
        ensure!(
            self.notebook.wait_until(RETURN_WAIT, is_back).await,
            "another line of the agent replaced the program's, and the program did not return within {} s",
            RETURN_WAIT.as_secs()
        );
        Ok(())
    }

    async fn open_rival_line(&self) -> anyhow::Result<()> {
        let rival = &self.agent.rival;
        let url = self.stage.desk.config.public_url();
        let settings = Settings::new(url, rival.name.clone(), rival.secret.clone());
        let agent = Agent::connect(settings, refuse)?;
        let greeted = timeout(REQUEST_WAIT, agent.handshake()).await;
        agent.disconnect().await;
        greeted.context("the second line was not opened")??;
        Ok(())
    }

    /// Revokes the gateway, and waits until the program ended or reported it.
    pub(super) async fn revoke(&mut self) -> anyhow::Result<()> {
        self.notebook.record(TrialFact::Revocation);
        self.stage.revoke(&self.agent).await?;
        let has_ended = |timed: &TimedFact| {
            matches!(timed.fact, TrialFact::Exit { .. } | TrialFact::RevocationReport)
        };
        let reported =
            self.notebook.wait_until(REVOCATION_WAIT, |facts| facts.iter().any(has_ended));
        let Some(program) = &mut self.program else { return Ok(()) };
        let ended = timeout(REVOCATION_WAIT, program.wait_for_exit());
        tokio::select! {
            _ = reported => {}
            _ = ended => {}
        }
        Ok(())
    }

    /// Stops the turn that runs in a chat. The response of the desk is for the person; the judge reads the program's.
    pub(super) async fn stop_turn(&self, chat: usize) -> anyhow::Result<()> {
        let chat_id = self.people.get(chat).map(PageVisitor::id).unwrap_or_default();
        let order = json!({ "platform": nightdesk_webchat::NAME, "chat_id": chat_id });
        let request =
            PlainHttp::new("POST /v1/sessions/stop HTTP/1.1", order.to_string().as_bytes())
                .with_header("Host", &self.stage.address().to_string())
                .with_header("Content-Type", "application/json")
                .with_header("Authorization", &self.agent.rival.authorization());
        let called = timeout(REQUEST_WAIT, request.call(self.stage.address())).await;
        let response = called.context("the desk did not respond to a stop")??;
        ensure!(response.is_success(), "the desk responded to a stop with {}", response.first_line);
        Ok(())
    }

    /// Posts an entry with a wrong signature to the program.
    pub(super) async fn forge(&self) -> anyhow::Result<()> {
        let chat = self.people.first().map(PageVisitor::id).unwrap_or_default();
        let source = json!({
            "platform": "webchat", "chat_id": chat, "chat_type": "dm", "chat_name": null,
            "user_id": chat, "user_name": "Visitor", "thread_id": null, "chat_topic": null,
            "is_bot": false, "message_is_edit": false,
        });
        let event = json!({
            "text": "say forged", "message_type": "text", "message_id": "forged", "source": source,
        });
        let frame = json!({ "type": "inbound", "event": event, "bufferId": "forged" });
        let posted = posts::post_forgery(self.listens_on, &self.notebook, &frame);
        timeout(REQUEST_WAIT, posted).await.context("the program did not respond to a post")??;
        Ok(())
    }

    /// Kills the program.
    pub(super) async fn kill(&mut self) {
        if let Some(program) = self.program.take() {
            self.notebook.record(TrialFact::Kill);
            program.kill().await;
        }
    }

    /// Ends the program, and returns all observations.
    pub(super) async fn end(&mut self) -> Vec<TimedFact> {
        if let Some(mut program) = self.program.take() {
            program.note_exit();
            let facts = self.notebook.facts();
            program.kill().await;
            self.watchers.shutdown().await;
            return facts;
        }
        self.watchers.shutdown().await;
        self.notebook.facts()
    }

    /// Returns the last lines that the program wrote.
    pub(super) fn output(&self) -> Vec<String> {
        self.output.lines()
    }
}

fn count_openings(facts: &[TimedFact]) -> usize {
    facts.iter().filter(|timed| timed.fact == TrialFact::Opening).count()
}

/// The second line takes no entry.
async fn refuse(_: Event) -> Result<(), SendError> {
    std::future::pending().await
}

/// The settings of the program. Stock clients read those of the second group.
fn variables(
    transport: TrialTransport,
    agent: &TrialAgent,
    door: &DeskDoor,
    listens_on: SocketAddr,
) -> Vec<(&'static str, String)> {
    let (url, gateway) = (door.url(), &agent.gateway);
    let mut variables = vec![
        ("NIGHTDESK_TRANSPORT", transport.name()),
        ("NIGHTDESK_URL", url.clone()),
        ("NIGHTDESK_GATEWAY", gateway.name.clone()),
        ("NIGHTDESK_SECRET", gateway.secret.clone()),
        ("GATEWAY_RELAY_URL", url),
        ("GATEWAY_RELAY_ID", gateway.name.clone()),
        ("GATEWAY_RELAY_SECRET", gateway.secret.clone()),
        ("PYTHONUNBUFFERED", "1".to_owned()),
    ];
    if let Some(secret) = &agent.webhook_secret {
        variables.push(("NIGHTDESK_WEBHOOK_SECRET", secret.clone()));
        variables.push(("PORT", listens_on.port().to_string()));
    }
    variables
}

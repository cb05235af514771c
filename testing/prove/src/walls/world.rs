//! Starts the platforms and two nodes on one database, and registers all agents with the desk's own commands.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nightdesk_fake_discord::FakeDiscord;
use nightdesk_fake_telegram::FakeTelegram;
use nightdesk_servers::Redis;
use nightdesk_types::{Clock, SystemClock};
use serde_json::{Value, json};

use super::who::{self, ALL, GROUP, GUILD, OWNERS, One, ROOM};
use crate::chaos::mutation::Mutation;
use crate::cluster::Cluster;
use crate::desk::{Desk, DeskLimits, Settings};
use crate::stage::DATABASE;

/// Time limit for the bots to listen.
const HEARS_WITHIN: Duration = Duration::from_secs(30);

/// All processes. The fields are dropped in this order.
pub(super) struct World {
    /// Lines are on the first node, and platforms post to the second.
    pub(super) nodes: [Desk; 2],
    pub(super) discord: FakeDiscord,
    pub(super) telegram: FakeTelegram,
    /// The secret of each agent's gateway.
    pub(super) secrets: Vec<String>,
    pub(super) clock: SystemClock,
    _redis: Redis,
    cluster: Cluster,
}

impl World {
    /// Starts everything. Returns when every bot listens.
    pub(super) async fn set(binary: &Path, mutation: Mutation) -> Result<Self> {
        let (discord, telegram) = (discord().await?, telegram().await);
        let (cluster, redis) = (Cluster::start()?, Redis::start()?);
        cluster.create(DATABASE)?;
        let mut settings = Settings::write(binary, &cluster, DATABASE)?;
        settings.set_limits(DeskLimits::Production)?;
        settings.migrate()?;
        let more = format!(
            "[redis]\nurl = \"{}\"\n[telegram]\napi_url = \"{}\"\n\
             [discord]\napi_url = \"{}\"\ngateway_url = \"{}\"\n",
            redis.url(),
            telegram.url(),
            discord.url(),
            discord.gateway_url()
        );
        let node = |name: &str| settings.node(name, cluster.folder(), &more);
        let [lines, posts] = [node("node-1")?, node("node-2")?];
        let bug = mutation.environment();
        let nodes = [lines.start_with(&bug)?, posts.start_with(&bug)?];
        posts.log_in()?;
        let operator = Operator { settings: posts, folder: cluster.folder().to_owned() };
        let (secrets, hooks) = operator.enter_all()?;
        mutation.alter(&cluster)?;
        for (bot, hook) in hooks.iter().enumerate() {
            let tried = discord.post_interactions(&who::discord_token(bot), hook).await;
            tried.map_err(anyhow::Error::msg).context("the desk takes no interactions")?;
        }
        let hears = |fake: &FakeDiscord| {
            let live = fake.sockets().into_iter().filter(|one| one.began.is_some());
            live.count() >= OWNERS.len()
        };
        ensure!(discord.until(HEARS_WITHIN, hears).await, "not every bot came to Discord");
        let clock = SystemClock::start();
        Ok(Self { nodes, discord, telegram, secrets, clock, _redis: redis, cluster })
    }

    /// Returns the number of entries, sends and updates that are under way.
    pub(super) fn under_way(&self) -> Result<usize> {
        let stored = self.cluster.ask(
            DATABASE,
            "select (
                 select count(*) from inbox_entries e join inbox_cursors c using (tenant_id, agent_id)
                 where e.seq > c.acked_seq and not e.seq <@ c.ahead
             ) + (select count(*) from sends where state in ('asked', 'calling'))",
        )?;
        let stored: usize = stored.trim().parse().context("could not read what is under way")?;
        let tokens = (0..OWNERS.len()).map(who::telegram_token);
        Ok(stored + tokens.map(|token| self.telegram.pending(&token)).sum::<usize>())
    }

    /// Returns the reasons of the stored refusals, with their numbers.
    pub(super) fn refusals(&self) -> Result<String> {
        let sql = "select string_agg(reason || '=' || n, ' ') from (
                       select reason, count(*) as n from refusals group by reason
                   ) as r";
        Ok(self.cluster.ask(DATABASE, sql)?.trim().to_owned())
    }

    /// Returns a token of an agent's gateway.
    pub(super) fn token(&self, agent: usize) -> String {
        use nightdesk_protocol::upgrade_token::{UPGRADE_TTL_SECS, make};
        let secret = self.secrets[agent].as_bytes();
        let now = self.clock.now();
        make(ALL[agent].name, secret, UPGRADE_TTL_SECS, now).expose().to_owned()
    }
}

async fn discord() -> Result<FakeDiscord> {
    let settings = nightdesk_fake_discord::Settings {
        identify_every: Duration::ZERO,
        ..nightdesk_fake_discord::Settings::default()
    };
    let fake = FakeDiscord::start_with(settings).await.context("could not start a Discord")?;
    let mut members = Vec::new();
    for (agent, one) in ALL.iter().enumerate() {
        fake.person(who::on_discord(agent), one.name);
        members.push(json!({ "user": { "id": who::on_discord(agent).to_string() }, "roles": [] }));
    }
    fake.guild(&json!({
        "id": GUILD.to_string(), "name": "Everybody", "owner_id": "1", "members": members,
        "channels": [{ "id": ROOM.to_string(), "name": "room" }],
    }));
    for bot in 0..OWNERS.len() {
        fake.bot(&who::discord_token(bot), who::bot_id(bot), &who::handle(bot));
        fake.join(&who::discord_token(bot), GUILD);
    }
    Ok(fake)
}

async fn telegram() -> FakeTelegram {
    let fake = FakeTelegram::open().await;
    fake.chat(json!({ "id": GROUP, "type": "supergroup", "title": "Everybody" }));
    for bot in 0..OWNERS.len() {
        fake.bot(&who::telegram_token(bot), &who::handle(bot));
    }
    fake
}

/// The operator, which registers tenants, bots and agents at a node.
struct Operator {
    settings: Settings,
    folder: std::path::PathBuf,
}

impl Operator {
    /// Registers everything. Returns the gateways' secrets, and Discord's webhook path for each bot.
    fn enter_all(&self) -> Result<(Vec<String>, Vec<String>)> {
        for tenant in ["night", "dawn", "noon", "dusk"] {
            self.run(&["tenant", "create", tenant])?;
        }
        let (mut bots, mut hooks) = (Vec::new(), Vec::new());
        for (bot, owner) in OWNERS.into_iter().enumerate() {
            let discord = self.connect("discord", owner, &who::discord_token(bot))?;
            hooks.push(text(&discord, "interactions")?);
            let telegram = self.connect("telegram", owner, &who::telegram_token(bot))?;
            bots.push([text(&discord, "bot_id")?, text(&telegram, "bot_id")?]);
        }
        for bot in &bots[0] {
            self.run(&["bot", "share", "--tenant", OWNERS[0], "--bot", bot])?;
        }
        let agents = ALL.iter().enumerate();
        let entered = agents.map(|(agent, one)| self.enter(agent, one, &bots[one.bot]));
        Ok((entered.collect::<Result<_>>()?, hooks))
    }

    fn connect(&self, platform: &str, tenant: &str, token: &str) -> Result<Value> {
        let file = self.folder.join("walls.key");
        fs::write(&file, token).context("could not write a bot's key")?;
        let file = file.display().to_string();
        self.run(&["bot", "connect", platform, "--tenant", tenant, "--key-file", &file])
    }

    fn enter(&self, agent: usize, one: &One, bots: &[String; 2]) -> Result<String> {
        let One { name, tenant, .. } = one;
        self.run(&["agent", "create", "--tenant", tenant, name])?;
        let whose = ["--tenant", tenant, "--agent", name];
        let people = [who::on_discord(agent).to_string(), who::on_telegram(agent).to_string()];
        for (bot, person) in bots.iter().zip(&people) {
            let on = ["--bot", bot, "--author", person];
            self.run(&[&["binding", "create"], &whose[..], &on].concat())?;
        }
        let made = self.run(&[&["gateway", "create"], &whose[..], &["--name", name]].concat())?;
        text(&made, "secret")
    }

    fn run(&self, words: &[&str]) -> Result<Value> {
        let output = self.settings.command(&[], &[words, &["--json"]].concat())?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`nightdesk {}`: {said}", words.join(" "));
        serde_json::from_slice(&output.stdout).context("a command did not put out JSON")
    }
}

fn text(answer: &Value, name: &str) -> Result<String> {
    let text = answer[name].as_str().map(str::to_owned);
    text.with_context(|| format!("a command did not say its {name}"))
}

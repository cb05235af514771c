//! Runs a desk in a temporary folder, as a person would run it.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Maximum time for a desk to start or stop.
const PATIENCE: Duration = Duration::from_secs(30);

/// Logs an operator in, as the README does.
const LOGIN: &str = "nightdesk login --link \"$(nightdesk admin link)\"";

/// The file with the tokens of commands, in a desk's folder.
const CREDENTIALS: &str = "credentials.json";

/// A folder with a configuration, and the desk that serves there.
pub(crate) struct Desk {
    folder: tempfile::TempDir,
    pub(crate) port: u16,
    serving: Option<Child>,
}

impl Desk {
    /// Creates a folder with this configuration, for the test server and a free port.
    pub(crate) fn configured(config: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (port, (server, database)) = (free_port(), new_database());
        let config = config
            .replace("127.0.0.1:8800", &format!("127.0.0.1:{port}"))
            .replace("127.0.0.1:5432/nightdesk", &format!("{server}/{database}"));
        std::fs::write(folder.path().join("desk.toml"), config).expect("write the configuration");
        Self { folder, port, serving: None }
    }

    /// Creates a folder with this configuration and a vault key, and migrates its database.
    pub(crate) fn migrated(config: &str) -> Self {
        let desk = Self::configured(config);
        desk.run("nightdesk key new > vault.key && chmod 400 vault.key && nightdesk migrate", &[]);
        desk
    }

    /// Creates another node of the same cell in another folder. The configuration contains this node's name.
    pub(crate) fn beside(&self, own: &str, other: &str) -> Self {
        let (folder, port) = (tempfile::tempdir().expect("a folder"), free_port());
        let config = std::fs::read_to_string(self.folder().join("desk.toml")).expect("it is there");
        let config = config
            .replace(&format!("127.0.0.1:{}", self.port), &format!("127.0.0.1:{port}"))
            .replace(&format!("name = \"{own}\""), &format!("name = \"{other}\""));
        std::fs::write(folder.path().join("desk.toml"), config).expect("write the configuration");
        let key = self.folder().join("vault.key");
        std::fs::copy(key, folder.path().join("vault.key")).expect("copy the key");
        Self { folder, port, serving: None }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a shell line there, with the binary on the path. Returns its output.
    pub(crate) fn run(&self, line: &str, variables: &[(&str, String)]) -> String {
        let mut command = shell(self.folder(), line, variables);
        let output = command.output().expect("bash runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line}: {said}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Runs a line that must fail. Returns its output.
    pub(crate) fn fails(&self, line: &str) -> String {
        let output = shell(self.folder(), line, &[]).output().expect("bash runs");
        assert!(!output.status.success(), "{line} should fail");
        let said = [output.stdout, output.stderr].concat();
        String::from_utf8(said).expect("text")
    }

    /// Returns the database's answer to a query.
    pub(crate) fn sql(&self, question: &str) -> String {
        psql(&self.database(), question)
    }

    /// Runs a statement in a transaction that stays open until the session is dropped.
    pub(crate) fn session(&self, statement: &str) -> Session {
        let mut psql = psql_command(&self.database())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("psql runs");
        let mut input = psql.stdin.take().expect("its input");
        writeln!(input, "begin; {statement};\n\\echo done").expect("psql reads");
        let mut line = String::new();
        let mut output = BufReader::new(psql.stdout.take().expect("its output"));
        output.read_line(&mut line).expect("psql answers");
        assert_eq!(line.trim(), "done");
        Session { psql, input: Some(input) }
    }

    /// Writes a backup of the database to a file.
    pub(crate) fn dump(&self) -> PathBuf {
        let file = self.folder().join("backup.sql");
        let mut dump = client("pg_dump", &self.database());
        let dumped = dump.arg("-f").arg(&file).output().expect("pg_dump runs");
        assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
        file
    }

    /// Replaces the database by a backup, on the same server and timeline.
    pub(crate) fn restore(&self, backup: &Path) {
        let database = self.database();
        psql("postgres", &format!("drop database {database} with (force)"));
        psql("postgres", &format!("create database {database}"));
        let mut load = psql_command(&database);
        let loaded = load.args(["-v", "ON_ERROR_STOP=1", "-f"]).arg(backup).output();
        let loaded = loaded.expect("psql runs");
        assert!(loaded.status.success(), "{}", String::from_utf8_lossy(&loaded.stderr));
    }

    fn database(&self) -> String {
        let config = std::fs::read_to_string(self.folder().join("desk.toml")).expect("it is there");
        let database = config.split("/outside_").nth(1).and_then(|rest| rest.split('"').next());
        format!("outside_{}", database.expect("a database in its URL"))
    }

    /// Begins to serve, waits until the desk answers, and logs an operator in.
    pub(crate) fn serve(&mut self) {
        self.begin_to_serve();
        self.wait_and_log_in();
    }

    /// Does the same with a server that must keep what it confirmed.
    pub(crate) fn serve_checked(&mut self) {
        self.begin("export NIGHTDESK__DATABASE__DURABILITY=checked; exec nightdesk serve");
        self.wait_and_log_in();
    }

    fn wait_and_log_in(&self) {
        wait_until("the desk answers", || self.get("/healthz").contains("200 OK"));
        self.log_in(&[]);
    }

    /// Logs an operator in for the commands of this folder, once.
    pub(crate) fn log_in(&self, variables: &[(&str, String)]) {
        if !self.folder().join(CREDENTIALS).exists() {
            self.run(LOGIN, variables);
        }
    }

    /// Starts the process without waiting.
    pub(crate) fn begin_to_serve(&mut self) {
        self.begin("exec nightdesk serve");
    }

    fn begin(&mut self, line: &str) {
        let log = std::fs::File::create(self.log_file()).expect("a log");
        let mut serve = shell(self.folder(), line, &[]);
        self.serving = Some(serve.stderr(log).stdout(Stdio::null()).spawn().expect("bash runs"));
    }

    fn log_file(&self) -> PathBuf {
        self.folder().join("serve.log")
    }

    /// Returns the log so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.log_file()).expect("its log")
    }

    /// Returns the desk's response; an empty text if it is down.
    pub(crate) fn get(&self, path: &str) -> String {
        get(self.port, path)
    }

    /// Sends its process a signal.
    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.serving.as_ref().expect("it serves").id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().expect("kill runs").success());
    }

    /// Waits until its process has ended. Returns true if it succeeded.
    pub(crate) fn ended(&mut self) -> bool {
        let mut serving = self.serving.take().expect("it serves");
        wait_until("the desk ends", || serving.try_wait().expect("its state").is_some());
        serving.wait().expect("its end").success()
    }

    /// Stops the desk, and waits until it ended.
    pub(crate) fn stop(&mut self) {
        self.signal("-TERM");
        assert!(self.ended(), "told to stop, it stops cleanly");
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        if let Some(mut serving) = self.serving.take() {
            drop(serving.kill());
            drop(serving.wait());
        }
    }
}

pub(crate) fn free_port() -> u16 {
    let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|free| free.local_addr());
    free.expect("a free port").port()
}

pub(crate) fn get(port: u16, path: &str) -> String {
    ask(port, "GET", path, "\r\n")
}

/// Sends a request; `rest` contains further headers and the body. Returns the response.
pub(crate) fn ask(port: u16, method: &str, path: &str, rest: &str) -> String {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return String::new() };
    let ask = format!("{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{rest}");
    let mut answer = String::new();
    drop(stream.write_all(ask.as_bytes()).and_then(|()| stream.read_to_string(&mut answer)));
    answer
}

pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the value of a `name: value` line.
pub(crate) fn value<'a>(output: &'a str, name: &str) -> &'a str {
    let found = output.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    found.expect("the answer has that line")
}

fn new_database() -> (String, String) {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let made = MADE.fetch_add(1, Ordering::Relaxed);
    let database = format!("outside_{}_{made}", std::process::id());
    psql("postgres", &format!("create database {database}"));
    let url = admin_url();
    let server = url.split('@').nth(1).and_then(|rest| rest.split('/').next());
    (server.expect("a server in the URL").to_owned(), database)
}

#[expect(clippy::disallowed_methods, reason = "where the test server is")]
fn admin_url() -> String {
    std::env::var("NIGHTDESK_TEST_PG_ADMIN_URL")
        .expect("run this with `just test`: it starts the server this needs")
}

fn psql(database: &str, question: &str) -> String {
    let asked = psql_command(database).args(["-c", question]).output().expect("psql runs");
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    String::from_utf8(asked.stdout).expect("text").trim().to_owned()
}

fn psql_command(database: &str) -> Command {
    let mut psql = client("psql", database);
    psql.arg("-qAt");
    psql
}

/// Returns a command for a client program of the test server.
#[expect(clippy::disallowed_methods, reason = "where the test server is")]
fn client(program: &str, database: &str) -> Command {
    let bin = std::env::var("NIGHTDESK_TEST_PG_BIN").expect("where psql is");
    let url = admin_url();
    let (server, _) = url.rsplit_once('/').expect("a database in the URL");
    let mut client = Command::new(Path::new(&bin).join(program));
    client.args(["-d", &format!("{server}/{database}")]);
    client
}

/// An open transaction of psql. It is rolled back on drop.
pub(crate) struct Session {
    psql: Child,
    input: Option<ChildStdin>,
}

impl Drop for Session {
    fn drop(&mut self) {
        // psql ends when its input does.
        drop(self.input.take());
        assert!(self.psql.wait().expect("psql ends").success(), "psql ran to its end");
    }
}

fn shell(folder: &Path, line: &str, variables: &[(&str, String)]) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_nightdesk"));
    let folder_of_binary = binary.parent().expect("a folder").display();
    let mut command = Command::new("bash");
    command.current_dir(folder).args(["-c", &format!("PATH={folder_of_binary}:$PATH; {line}")]);
    // The test server does not wait for its disk.
    command.env("NIGHTDESK__DATABASE__DURABILITY", "unchecked");
    command.env("NIGHTDESK_CREDENTIALS", folder.join(CREDENTIALS));
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command
}

//! Queries the database from outside with a persistent `psql`.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Line that marks the end of the rows.
const END: &str = "-- that is all --";

/// A connection of its own. After a failure the next query opens a new one.
#[derive(Debug)]
pub struct Looker {
    program: PathBuf,
    url: String,
    open: Option<Psql>,
}

impl Looker {
    /// Returns a looker that is not connected yet.
    pub const fn at(program: PathBuf, url: String) -> Self {
        Self { program, url, open: None }
    }

    /// Returns the rows of a query, columns separated by `|`.
    ///
    /// # Errors
    ///
    /// Fails if the server is down or the query is wrong. The next query opens a new connection.
    pub fn ask(&mut self, sql: &str) -> Result<Vec<String>> {
        let mut psql = match self.open.take() {
            Some(psql) => psql,
            None => Psql::open(&self.program, &self.url)?,
        };
        let rows = psql.ask(sql)?;
        self.open = Some(psql);
        Ok(rows)
    }
}

#[derive(Debug)]
struct Psql {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Psql {
    fn open(program: &PathBuf, url: &str) -> Result<Self> {
        let mut child = Command::new(program)
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url])
            .env("PGOPTIONS", "-c statement_timeout=5s")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("could not run psql")?;
        let questions = child.stdin.take().context("psql has no ear")?;
        let answers = child.stdout.take().context("psql has no voice")?;
        Ok(Self { child, questions, answers: BufReader::new(answers) })
    }

    fn ask(&mut self, sql: &str) -> Result<Vec<String>> {
        let question = format!("{sql};\n\\echo {END}\n");
        self.questions.write_all(question.as_bytes()).context("psql takes no question")?;
        let mut rows = Vec::new();
        loop {
            let mut row = String::new();
            let read = self.answers.read_line(&mut row).context("psql gives no answer")?;
            ensure!(read > 0, "psql ended without an answer");
            match row.trim_end() {
                END => return Ok(rows),
                row => rows.push(row.to_owned()),
            }
        }
    }
}

impl Drop for Psql {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

//! Reads the operator's pages, so that a proof runs the very commands that an operator types.
//!
//! A page names its folders and URLs by variables, which the proof sets. The proof starts and stops servers itself, in
//! place of the page's `pg_ctl`: a server of a proof must end with the proof.

use anyhow::{Context, Result, bail};

/// The page about a failover.
pub const FAILOVER: &str = include_str!("../../../docs/failover.md");

/// The page about a restore.
pub const RESTORE: &str = include_str!("../../../docs/restore.md");

/// A step of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Lines for a shell.
    Shell(String),
    /// A line with `pg_ctl`.
    Server(ServerCommand),
    /// The arguments of a line with `nightdesk`, without the configuration file.
    Desk(Vec<String>),
}

/// A command of `pg_ctl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerCommand {
    /// Starts the server.
    Start,
    /// Stops the server.
    Stop,
    /// Stops the server and starts it again.
    Restart,
}

/// Returns the steps of a section of a page, in order.
pub fn steps(page: &str, heading: &str) -> Result<Vec<Step>> {
    let mut steps: Vec<Step> = Vec::new();
    for line in shell_blocks(section(page, heading)?) {
        let step = read_step(line)?;
        if let (Some(Step::Shell(lines)), Step::Shell(line)) = (steps.last_mut(), &step) {
            lines.push('\n');
            lines.push_str(line);
        } else {
            steps.push(step);
        }
    }
    Ok(steps)
}

/// Returns the lines of a section that has nothing but lines for a shell.
pub fn shell_lines(page: &str, heading: &str) -> Result<String> {
    match <[Step; 1]>::try_from(steps(page, heading)?) {
        Ok([Step::Shell(lines)]) => Ok(lines),
        other => bail!("section {heading:?} of a page is not one shell block: {other:?}"),
    }
}

fn section<'p>(page: &'p str, heading: &str) -> Result<&'p str> {
    let opening = format!("\n## {heading}\n");
    let (_, rest) = page
        .split_once(&opening)
        .with_context(|| format!("a page has no section {heading:?}, which a proof runs"))?;
    Ok(rest.split("\n## ").next().unwrap_or_default())
}

/// Returns the lines of all shell blocks.
fn shell_blocks(section: &str) -> impl Iterator<Item = &str> {
    let mut is_inside = false;
    section.lines().filter(move |line| {
        let was_inside = is_inside;
        is_inside = if was_inside { *line != "```" } else { *line == "```sh" };
        was_inside && is_inside
    })
}

fn read_step(line: &str) -> Result<Step> {
    let mut words = line.split_whitespace();
    match words.next() {
        Some("pg_ctl") => {
            let command = words.find_map(|word| match word {
                "start" => Some(ServerCommand::Start),
                "stop" => Some(ServerCommand::Stop),
                "restart" => Some(ServerCommand::Restart),
                _ => None,
            });
            command.map(Step::Server).with_context(|| format!("a page has an odd line: {line}"))
        }
        Some("nightdesk") => {
            let words = words.take_while(|word| *word != "--config");
            Ok(Step::Desk(words.map(str::to_owned).collect()))
        }
        Some(_) | None => Ok(Step::Shell(line.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Page\n\n```sh\nnot here\n```\n\n## One\n\ntext\n\n```sh\necho 1\necho 2\npg_ctl -D \"$DATA\" \
                        stop -m immediate\n```\n\nmore\n\n```toml\nnot = \"this\"\n```\n\n```sh\nnightdesk config check \
                        --config desk.toml\necho 3\n```\n\n## Two\n\n```sh\necho 4\n```\n";

    #[test]
    fn a_section_is_read_in_order() {
        let words = ["config", "check"].map(str::to_owned).to_vec();
        let want = [
            Step::Shell("echo 1\necho 2".to_owned()),
            Step::Server(ServerCommand::Stop),
            Step::Desk(words),
            Step::Shell("echo 3".to_owned()),
        ];

        assert_eq!(steps(PAGE, "One").unwrap(), want);
        assert_eq!(shell_lines(PAGE, "Two").unwrap(), "echo 4");
        assert!(shell_lines(PAGE, "One").is_err());
        assert!(steps(PAGE, "Three").is_err());
    }

    #[test]
    fn the_pages_have_the_sections_that_the_proofs_run() {
        for heading in ["Make a standby", "Make it synchronous", "Fail over"] {
            assert!(!steps(FAILOVER, heading).unwrap().is_empty(), "{heading}");
        }
        for heading in ["Archive the log", "Take a base backup", "Restore", "Check"] {
            assert!(!steps(RESTORE, heading).unwrap().is_empty(), "{heading}");
        }
    }
}

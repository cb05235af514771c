//! Runs the commands of documentation pages as they are written.

use crate::desk::{Desk, value};

pub(crate) const README: &str = include_str!("../../../../README.md");

/// Returns the code blocks of a language on a page, in order.
pub(crate) fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let opening = format!("```{language}\n");
    let rest = page.split(&opening).skip(1);
    rest.map(|block| block.split("```").next().unwrap_or_default()).collect()
}

/// Returns a desk that serves after the README's commands.
pub(crate) fn served() -> Desk {
    served_with("")
}

/// Returns the same desk with additional configuration.
fn served_with(more: &str) -> Desk {
    let mut desk = Desk::configured(&[blocks(README, "toml")[0], more].concat());
    let running = blocks(README, "sh").into_iter().find(|block| block.contains("nightdesk serve"));
    for line in running.expect("the README serves").lines() {
        if line.starts_with("nightdesk serve") {
            desk.serve();
        } else {
            desk.run(line, &[]);
        }
    }
    desk
}

/// The values that earlier commands printed, by variable name.
#[derive(Default)]
pub(crate) struct Variables(Vec<(&'static str, String)>);

/// A command, the value that it prints, and the value's variable name.
const SHOWN: [(&str, &str, &str); 4] = [
    ("tenant create", "tenant_id", "TENANT"),
    ("agent create", "agent_id", "AGENT"),
    ("bot create", "bot_id", "BOT"),
    ("gateway create", "secret", "SECRET"),
];

impl Variables {
    /// Runs a line, and stores the values that it prints.
    pub(crate) fn run(&mut self, desk: &Desk, line: &str) -> String {
        let answer = desk.run(line, &self.0);
        for (command, name, variable) in SHOWN {
            if line.contains(command) {
                self.set(variable, value(&answer, name));
            }
        }
        answer
    }

    pub(crate) fn set(&mut self, variable: &'static str, value: &str) {
        self.0.push((variable, value.to_owned()));
    }

    /// Returns a line with its variables replaced.
    pub(crate) fn put_in(&self, line: &str) -> String {
        let put =
            |line: String, (name, value): &(&str, String)| line.replace(&format!("${name}"), value);
        self.0.iter().fold(line.to_owned(), put)
    }

    pub(crate) fn get(&self, variable: &str) -> &str {
        let found = self.0.iter().find(|(name, _)| *name == variable);
        found.map(|(_, value)| value.as_str()).expect("a command has shown it")
    }
}

/// Returns a serving desk with all objects of the README.
pub(crate) fn entered() -> (Desk, Variables) {
    entered_on("")
}

/// Returns the same desk with additional configuration.
pub(crate) fn entered_on(more: &str) -> (Desk, Variables) {
    let (desk, mut entered) = (served_with(more), Variables::default());
    let entering = blocks(README, "sh").into_iter().find(|block| block.contains("tenant create"));
    for line in entering.expect("the README enters a tenant").lines() {
        entered.run(&desk, line);
    }
    (desk, entered)
}

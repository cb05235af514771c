//! The README's commands, run as they stand there.

use crate::desk::{Desk, value};

const README: &str = include_str!("../../../../README.md");

/// The blocks of a language, in order.
fn blocks(language: &str) -> Vec<&'static str> {
    let opening = format!("```{language}\n");
    let rest = README.split(&opening).skip(1);
    rest.map(|block| block.split("```").next().unwrap_or_default()).collect()
}

#[test]
fn a_desk_is_running_after_the_readmes_commands() {
    let mut desk = Desk::configured(blocks("toml")[0]);
    let [running, entering] = blocks("sh")[..] else { panic!("the README has two blocks") };
    for line in running.lines() {
        if line == "nightdesk serve" {
            desk.serve();
        } else {
            desk.run(line, &[]);
        }
    }

    let mut variables: Vec<(&str, String)> = Vec::new();
    for line in entering.lines() {
        let answer = desk.run(line, &variables);
        for (name, variable) in [("tenant_id", "TENANT"), ("agent_id", "AGENT")] {
            if line.contains(&format!("{} create", name.trim_end_matches("_id"))) {
                variables.push((variable, value(&answer, name).to_owned()));
            }
        }
        if line.starts_with("nightdesk gateway") {
            assert_eq!(value(&answer, "secret").len(), 64);
        }
    }
    desk.stop();
}

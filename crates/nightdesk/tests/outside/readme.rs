//! The README's commands.

use crate::desk::value;
use crate::docs::{README, blocks, served};

#[test]
fn a_desk_is_running_after_the_readmes_commands() {
    let mut desk = served();
    let entering = blocks(README, "sh").into_iter().find(|block| block.contains("tenant create"));
    let mut variables: Vec<(&str, String)> = Vec::new();
    for line in entering.expect("the README enters a tenant").lines() {
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

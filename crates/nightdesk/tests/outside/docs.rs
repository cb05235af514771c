//! Pages whose commands are run as they stand there.

use crate::desk::Desk;

pub(crate) const README: &str = include_str!("../../../../README.md");

/// The blocks of a language on a page, in order.
pub(crate) fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let opening = format!("```{language}\n");
    let rest = page.split(&opening).skip(1);
    rest.map(|block| block.split("```").next().unwrap_or_default()).collect()
}

/// A desk that serves after the README's commands.
pub(crate) fn served() -> Desk {
    let mut desk = Desk::configured(blocks(README, "toml")[0]);
    let running = blocks(README, "sh").into_iter().find(|block| block.contains("nightdesk serve"));
    for line in running.expect("the README serves").lines() {
        if line == "nightdesk serve" {
            desk.serve();
        } else {
            desk.run(line, &[]);
        }
    }
    desk
}

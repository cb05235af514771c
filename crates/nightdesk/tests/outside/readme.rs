//! The README's commands.

use crate::docs::entered;

#[test]
fn a_desk_is_running_after_the_readmes_commands() {
    let (mut desk, entered) = entered();

    assert_eq!(entered.get("SECRET").len(), 64);
    desk.stop();
}

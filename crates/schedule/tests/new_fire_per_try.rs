//! X11: each try has its own id.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

#[path = "planted/stage.rs"]
mod stage;

use nightdesk_types::planted::plant;

#[tokio::test(start_paused = true)]
async fn the_bug_can_be_seen() {
    let (sound, first) = stage::told().await;
    assert_eq!((sound.len(), first), (2, Some(10)));
    assert_eq!(sound[0], sound[1], "tries share an id");

    assert!(plant("X11"));
    let (planted, _) = stage::told().await;
    assert_eq!(planted.len(), 2);
    assert_ne!(planted[0], planted[1]);
}

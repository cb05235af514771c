//! A database that lost commits: the node stores again what it stored lately.

use nightdesk_desk::StoredAgain;
use nightdesk_testdesk::TestDesk;
use nightdesk_types::Seq;

#[tokio::test]
async fn events_that_the_database_lost_are_stored_again_in_order() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    for key in ["k1", "k2", "k3"] {
        assert_eq!(desk.says(&ann, "ann", key).await, 200);
    }
    desk.store.lose_entries(ann.scope, ann.agent, Seq::new(1));
    assert_eq!(desk.head_of(&ann).await, Seq::new(1));

    let mut counts = StoredAgain::default();
    desk.desk.inbound.store_again(&mut counts).await.expect("the store is there");
    assert_eq!(counts, StoredAgain { stored: 3, kept: 0, refused: 0 }, "no key is left");
    assert_eq!(desk.head_of(&ann).await, Seq::new(4));

    let mut again = StoredAgain::default();
    desk.desk.inbound.store_again(&mut again).await.expect("the store is there");
    assert_eq!(again, StoredAgain { stored: 0, kept: 3, refused: 0 }, "each is there once");
    assert_eq!(desk.head_of(&ann).await, Seq::new(4));
}

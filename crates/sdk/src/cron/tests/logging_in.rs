//! An agent always has a valid access token.

use super::*;

#[tokio::test]
async fn a_token_is_asked_for_once_and_used_until_it_is_nearly_over() {
    let stage = Stage::new().await;
    for id in ["a", "b", "c"] {
        stage.provider.set(every(id, 20)).await.unwrap();
    }
    assert_eq!(stage.desk.asked("token"), 1);
}

#[tokio::test]
async fn a_token_that_is_over_is_replaced_before_it_is_shown() {
    let desk = Desk::start().await;
    desk.gives_for(0);
    let settings = CronSettings::new(desk.url(), AGENT, Login::client("c1", "canary-5f1c"));
    let stage = Stage::on(desk, settings).await;

    stage.provider.reconcile().await.unwrap();
    assert_eq!((stage.desk.asked("token"), stage.desk.asked("list")), (2, 2));
}

#[tokio::test]
async fn a_token_that_is_refused_is_replaced_once() {
    let stage = Stage::new().await;
    stage.desk.revokes();
    stage.provider.set(every("tick", 20)).await.unwrap();
    assert_eq!(stage.desk.asked("token"), 2);
    assert_eq!(stage.desk.armed().len(), 1);

    stage.desk.answers("list", StatusCode::UNAUTHORIZED);
    let lists = stage.desk.asked("list");
    let told = stage.provider.cron.reconcile().await;
    assert!(matches!(told, Err(CronError::Desk(DeskCallError::Refused(_, 401)))), "{told:?}");
    assert_eq!(stage.desk.asked("list"), lists + 2);
}

#[tokio::test]
async fn who_has_another_secret_hears_so() {
    let desk = Desk::start().await;
    let settings = CronSettings::new(desk.url(), AGENT, Login::client("c1", "wrong"));
    desk.answers("none", StatusCode::OK);
    let stage = Stage::on(desk, settings).await;

    let error = stage.provider.reconcile().await.unwrap_err().to_string();
    assert_eq!(error, "could not log in: the desk responded with 401");
}

#[tokio::test]
async fn a_token_that_was_given_is_shown_as_it_is() {
    let desk = Desk::start().await;
    let settings = CronSettings::new(desk.url(), AGENT, Login::token("t1"));
    let stage = Stage::on(desk, settings).await;

    stage.provider.set(every("tick", 20)).await.unwrap();
    assert_eq!(stage.desk.asked("token"), 0);
    stage.desk.answers("list", StatusCode::UNAUTHORIZED);
    let lists = stage.desk.asked("list");
    assert!(stage.provider.cron.reconcile().await.is_err());
    assert_eq!(stage.desk.asked("list"), lists + 1, "there is no other to be had");
}

#[tokio::test]
async fn a_gateway_shows_what_it_dials_in_with() {
    let desk = Desk::start().await;
    let settings = CronSettings::new(desk.url(), AGENT, Login::gateway("gw-1", "canary-5f1c"));
    let stage = Stage::on(desk, settings).await;

    let token = stage.desk.shown().unwrap();
    let read = nightdesk_protocol::Bearer::read(&token, stage.now());
    assert!(matches!(read, Some(nightdesk_protocol::Bearer::Upgrade(_))), "{read:?}");
    assert_eq!(stage.desk.asked("token"), 0);
}

//! Checks the sessions with which agents were set up.

use nightdesk_register::enrolment::Digest;
use nightdesk_register::issuer::{IssuerSession, NextRefresh, RefreshResult, RefreshSeed};
use nightdesk_types::AgentId;

use super::provision::identity;
use crate::Harness;
use crate::cast::{Cast, Person};

/// Checks that a session belongs to one agent, in its tenant, until it is ended.
pub async fn a_session_is_one_agents(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    let register = harness.register();
    let owl = register.create_agent(ann.scope, "owl").await.expect("enter an agent");
    let session =
        IssuerSession { issuer: Some("https://login.example.org".to_owned()), id: "s".into() };
    let begin = |agent| {
        let (register, session) = (harness.register(), session.clone());
        async move {
            let begun = register.begin_session(ann.scope, agent, &session, None).await;
            begun.expect("begin a session")
        }
    };

    assert!(begin(ann.agent).await && begin(ann.agent).await, "it may be said twice");
    assert!(!begin(owl).await, "it is another agent's");
    assert_eq!(agent_of(harness, &ann, &session).await, Some(ann.agent));
    assert_eq!(agent_of(harness, &bob, &session).await, None, "another tenant's");
    let others =
        IssuerSession { issuer: Some("https://other.example".to_owned()), ..session.clone() };
    assert_eq!(agent_of(harness, &ann, &others).await, None, "another issuer's");
    assert_eq!(
        agent_of(harness, &ann, &IssuerSession::from_own_issuer("s")).await,
        None,
        "not the desk's own"
    );
    assert!(!register.end_session(bob.scope, &session).await.expect("end a session"));
    assert!(register.end_session(ann.scope, &session).await.expect("end a session"));
    assert_eq!(agent_of(harness, &ann, &session).await, None);
    assert!(!begin(ann.agent).await, "what is over stays so");
}

/// Checks that a refresh token is traded for the next, in its tenant and session only, and for the same one again if
/// the response was lost.
pub async fn a_refresh_token_is_traded_for_the_next(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    let bob = cast.person("bob").await;
    begin(harness, &ann, "s", "one").await;
    begin(harness, &bob, "s", "bobs").await;

    assert_eq!(refresh(harness, &ann, "one", "two").await, refresh_result(&ann, "two"));
    let again = refresh(harness, &ann, "one", "three").await;
    assert_eq!(again, refresh_result(&ann, "two"), "the answer was lost, and is the same");
    assert_eq!(refresh(harness, &ann, "two", "four").await, refresh_result(&ann, "four"));
    let others =
        [("a guess", &ann, "guess"), ("another's", &bob, "four"), ("unused", &ann, "three")];
    for (name, person, token) in others {
        assert_eq!(refresh(harness, person, token, "x").await, RefreshResult::Unknown, "{name}");
    }
    let ended =
        harness.register().end_session(ann.scope, &IssuerSession::from_own_issuer("s")).await;
    assert!(ended.expect("end a session"));
    assert_eq!(refresh(harness, &ann, "four", "y").await, RefreshResult::Unknown);
    let bobs = refresh(harness, &bob, "bobs", "z").await;
    assert_eq!(bobs, refresh_result(&bob, "z"), "another tenant's of that name goes on");
}

/// Checks that a refresh token whose successor was used ends its session: a thief and the agent never have a chain of
/// tokens each.
pub async fn a_refresh_token_with_a_used_successor_ends_its_session(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    begin(harness, &ann, "s", "one").await;
    assert_eq!(refresh(harness, &ann, "one", "two").await, refresh_result(&ann, "two"));
    assert_eq!(refresh(harness, &ann, "two", "three").await, refresh_result(&ann, "three"));

    assert_eq!(refresh(harness, &ann, "one", "stolen").await, RefreshResult::Reused);
    for token in ["three", "stolen"] {
        let late = refresh(harness, &ann, token, "x").await;
        assert_eq!(late, RefreshResult::Unknown, "{token}");
    }
    let session = IssuerSession::from_own_issuer("s");
    assert_eq!(agent_of(harness, &ann, &session).await, None, "it is over");
}

/// Checks that concurrent exchanges of one token get one successor.
pub async fn of_racing_refreshes_all_get_one_successor(harness: &impl Harness) {
    let cast = Cast::of(harness).await;
    let ann = cast.person("ann").await;
    begin(harness, &ann, "s", "one").await;
    let racing = (0..6).map(|number| {
        let (register, tenant) = (harness.register(), ann.scope.tenant());
        let wanted = successor(&format!("next {number}"));
        tokio::spawn(async move {
            register.refresh(tenant, "s", Digest::from_secret("one"), wanted).await
        })
    });
    let racing: Vec<_> = racing.collect();

    let mut seeds = Vec::new();
    for refreshed in racing {
        match refreshed.await.expect("no panic").expect("refresh a session") {
            RefreshResult::Next { seed, .. } => seeds.push(seed),
            RefreshResult::Reused | RefreshResult::Unknown => panic!("the token is good"),
        }
    }
    assert_eq!(seeds, vec![seeds[0]; 6]);
}

async fn agent_of(
    harness: &impl Harness,
    person: &Person,
    session: &IssuerSession,
) -> Option<AgentId> {
    let found = harness.register().agent_of_session(person.scope, session).await;
    found.expect("find a session")
}

pub(crate) async fn begin(harness: &impl Harness, person: &Person, session: &str, token: &str) {
    let (session, token) =
        (IssuerSession::from_own_issuer(session), Some(Digest::from_secret(token)));
    let begun = harness.register().begin_session(person.scope, person.agent, &session, token).await;
    assert!(begun.expect("begin a session"));
}

pub(crate) async fn refresh(
    harness: &impl Harness,
    person: &Person,
    shown: &str,
    next: &str,
) -> RefreshResult {
    let (shown, next) = (Digest::from_secret(shown), successor(next));
    let refreshed = harness.register().refresh(person.scope.tenant(), "s", shown, next).await;
    refreshed.expect("refresh a session")
}

/// Returns a successor with this text.
fn successor(text: &str) -> NextRefresh {
    let token = Digest::from_secret(text);
    NextRefresh { seed: RefreshSeed::from_bytes(*token.as_bytes()), token }
}

/// Returns the result of an exchange for this successor.
pub(crate) fn refresh_result(person: &Person, successor_text: &str) -> RefreshResult {
    RefreshResult::Next { identity: identity(person), seed: successor(successor_text).seed }
}

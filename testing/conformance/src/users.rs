//! Promises about users: roles, logins, API tokens and broken glass.

use std::collections::BTreeSet;
use std::time::Duration;

use nightdesk_register::audit::{AuditRecord, Kind};
use nightdesk_register::enrolment::Digest;
use nightdesk_types::limits::{API_TOKENS_MAX, USER_ROLES_MAX};
use nightdesk_types::{Actor, TenantId, TenantScope, UserId};
use nightdesk_users::{
    GlassRefusal, GlassState, NewApiToken, NewUser, OpenGlass, ProviderLogin, Right, Role,
    RoleSource, TenantRole, TokenCreation, TokenLimits, UserSelection,
};

use crate::Harness;
use crate::cast::tenant;

const HOUR: Duration = Duration::from_hours(1);

fn digest(text: &str) -> Digest {
    Digest::from_secret(text)
}

async fn user(harness: &impl Harness, name: &str, roles: &[Role]) -> UserId {
    let new = NewUser { name: name.to_owned(), email: None, roles: roles.to_vec() };
    harness.users().create_user(Actor::Operator, &new).await.expect("create a user")
}

/// Creates a user with a provider's login.
fn login(subject: &str, email: Option<&str>, roles: &[Role]) -> ProviderLogin {
    ProviderLogin {
        issuer: "https://login.example.org".to_owned(),
        subject: subject.to_owned(),
        name: format!("User {subject}"),
        email: email.map(str::to_owned),
        roles: roles.to_vec(),
    }
}

fn token(secret: &str, rights: &[Right], tenant: Option<TenantId>) -> NewApiToken {
    let limits = TokenLimits { rights: rights.iter().copied().collect::<BTreeSet<_>>(), tenant };
    NewApiToken { name: "script".to_owned(), secret: digest(secret), limits, lasts: HOUR }
}

async fn roles(harness: &impl Harness, user: UserId) -> Vec<(Role, RoleSource)> {
    let listed = harness.users().users(UserSelection::Of(user), None).await.expect("list users");
    listed.into_iter().flat_map(|listed| listed.roles).collect()
}

/// Returns the kinds of the acts that a place's audit log records about users.
async fn acts(harness: &impl Harness, scope: TenantScope) -> Vec<AuditRecord> {
    let kinds = [
        Kind::UserCreated,
        Kind::RoleGiven,
        Kind::RoleTaken,
        Kind::LoginLinkMade,
        Kind::UserLoggedIn,
        Kind::UserLoggedOut,
        Kind::ApiTokenMade,
        Kind::ApiTokenRevoked,
        Kind::GlassAsked,
        Kind::GlassApproved,
        Kind::GlassEnded,
    ];
    let records = harness.register().audit_records(scope, 0, 1_000).await;
    let is_about_users = |record: &AuditRecord| kinds.iter().any(|kind| kind.slug() == record.kind);
    records.expect("read the audit log").into_iter().filter(is_about_users).collect()
}

async fn kinds(harness: &impl Harness, scope: TenantScope) -> Vec<String> {
    acts(harness, scope).await.into_iter().map(|record| record.kind).collect()
}

/// A user has the roles that were given. The audit log of each place records them, and only those of its place.
pub async fn a_user_has_the_roles_that_were_given(harness: &impl Harness) {
    let (acme, other) = (tenant(harness, "acme").await, tenant(harness, "other").await);
    let admin = Role::Tenant(acme.tenant(), TenantRole::Admin);
    let member = Role::Tenant(other.tenant(), TenantRole::Member);
    let users = harness.users();
    let ann = user(harness, "Ann", &[admin]).await;
    let by = Actor::User(ann);
    assert!(users.give_role(by, ann, member).await.expect("give a role"));
    assert!(users.give_role(by, ann, member).await.expect("give a role again"));
    assert!(users.give_role(by, ann, Role::Operator).await.expect("give a role"));

    let hand = RoleSource::Hand;
    let given: BTreeSet<_> = roles(harness, ann).await.into_iter().collect();
    assert_eq!(given, BTreeSet::from([(admin, hand), (member, hand), (Role::Operator, hand)]));
    assert_eq!(kinds(harness, acme).await, ["role-given"]);
    let in_other = acts(harness, other).await;
    assert_eq!((in_other.len(), in_other[0].actor.as_str()), (1, by.to_string().as_str()));
    assert_eq!(kinds(harness, TenantScope::desk_own()).await, ["user-created", "role-given"]);

    assert!(users.take_role(by, ann, member).await.expect("take a role"));
    assert!(!users.take_role(by, ann, member).await.expect("take a role again"));
    assert_eq!(kinds(harness, other).await, ["role-given", "role-taken"]);
    let unknown = UserId::from_uuid(uuid::Uuid::from_u128(404));
    assert!(!users.give_role(by, unknown, admin).await.expect("there is no such user"));
}

/// A list of a tenant has only its users, and only their roles in it.
pub async fn a_tenant_sees_only_its_own_users(harness: &impl Harness) {
    let (acme, other) = (tenant(harness, "acme").await, tenant(harness, "other").await);
    let of_acme = Role::Tenant(acme.tenant(), TenantRole::Admin);
    let of_other = Role::Tenant(other.tenant(), TenantRole::Member);
    let both = user(harness, "Both", &[of_acme, of_other, Role::Operator]).await;
    user(harness, "Other", &[of_other]).await;
    let users = harness.users();

    let of_tenant = UserSelection::OfTenant(acme.tenant());
    let listed = users.users(of_tenant, None).await.expect("list users");
    assert_eq!(listed.len(), 1);
    assert_eq!(
        (listed[0].id, listed[0].roles.as_slice()),
        (both, &[(of_acme, RoleSource::Hand)][..])
    );
    let all = users.users(UserSelection::All, None).await.expect("list users");
    assert_eq!(all.len(), 2);
    let after = users.users(UserSelection::All, Some(all[0].id)).await.expect("the next page");
    assert_eq!(after, all[1..]);
}

/// A user has a bounded number of roles.
pub async fn a_user_has_a_bounded_number_of_roles(harness: &impl Harness) {
    let ann = user(harness, "Ann", &[]).await;
    let users = harness.users();
    for number in 0..USER_ROLES_MAX {
        let scope = tenant(harness, &format!("t{number}")).await;
        let role = Role::Tenant(scope.tenant(), TenantRole::Auditor);
        assert!(users.give_role(Actor::Operator, ann, role).await.expect("give a role"));
    }

    assert!(!users.give_role(Actor::Operator, ann, Role::Auditor).await.expect("one too many"));
}

/// A provider's claims give roles at each login and take away those that they gave before; roles given by a user stay.
pub async fn claims_give_and_take_their_own_roles(harness: &impl Harness) {
    let acme = tenant(harness, "acme").await;
    let admin = Role::Tenant(acme.tenant(), TenantRole::Admin);
    let member = Role::Tenant(acme.tenant(), TenantRole::Member);
    let users = harness.users();
    let log_in = async |roles: &[Role]| {
        users.log_in(&login("s1", None, roles)).await.expect("log a user in")
    };
    assert_eq!(log_in(&[]).await, None, "a user without a role is not created");

    let ann = log_in(&[admin, Role::Auditor]).await.expect("the claims give roles");
    users.give_role(Actor::Operator, ann, member).await.expect("give a role");
    assert_eq!(log_in(&[Role::Auditor]).await, Some(ann), "the same user");
    let found: BTreeSet<_> = roles(harness, ann).await.into_iter().collect();
    let want = [(member, RoleSource::Hand), (Role::Auditor, RoleSource::Claim)];
    assert_eq!(found, BTreeSet::from(want));
    assert_eq!(log_in(&[]).await, Some(ann), "the role by hand is left");
    assert_eq!(roles(harness, ann).await, [(member, RoleSource::Hand)]);
    users.take_role(Actor::Operator, ann, member).await.expect("take a role");
    assert_eq!(log_in(&[]).await, None);
}

/// A login with a verified address becomes the user that was entered with it, once.
pub async fn a_verified_address_finds_the_user_that_was_entered(harness: &impl Harness) {
    let acme = tenant(harness, "acme").await;
    let admin = Role::Tenant(acme.tenant(), TenantRole::Admin);
    let users = harness.users();
    let email = Some("Ann@Example.org".to_owned());
    let new = NewUser { name: "Ann".to_owned(), email, roles: vec![admin] };
    let ann = users.create_user(Actor::Operator, &new).await.expect("create a user");
    let address = Some("ann@example.org");

    let unverified = users.log_in(&login("s1", None, &[])).await.expect("log in");
    assert_eq!(unverified, None);
    let first = users.log_in(&login("s1", address, &[])).await.expect("log in");
    assert_eq!(first, Some(ann));
    let other = users.log_in(&login("s2", address, &[])).await.expect("log in");
    assert_eq!(other, None, "the address belongs to the first login");
    let again = users.log_in(&login("s1", None, &[])).await.expect("log in");
    assert_eq!(again, Some(ann));
}

/// A login link works once and for its time.
pub async fn a_login_link_works_once(harness: &impl Harness) {
    let ann = user(harness, "Ann", &[Role::Operator]).await;
    let users = harness.users();
    let create = async |user: UserId, code: &str, lasts: Duration| {
        users.create_link(Actor::Operator, user, digest(code), lasts).await.expect("create a link")
    };
    assert!(create(ann, "code", HOUR).await);
    assert!(create(ann, "over", Duration::ZERO).await);
    let unknown = UserId::from_uuid(uuid::Uuid::from_u128(404));
    assert!(!create(unknown, "other", HOUR).await);

    let redeem = async |code: &str| users.redeem_link(digest(code)).await.expect("use a link");
    assert_eq!(redeem("guess").await, None);
    assert_eq!(redeem("over").await, None);
    let used_at = async || {
        let listed = users.users(UserSelection::Of(ann), None).await.expect("list a user");
        listed[0].used_at
    };
    assert_eq!(used_at().await, None, "no link was used yet");
    assert_eq!(redeem("code").await, Some(ann));
    assert!(used_at().await.is_some(), "a login is a use");
    assert_eq!(redeem("code").await, None);
    let at_once = async || redeem("code2").await;
    assert!(create(ann, "code2", HOUR).await);
    let (one, other, third) = tokio::join!(at_once(), at_once(), at_once());
    let used = [one, other, third].into_iter().flatten().count();
    assert_eq!(used, 1, "of several at once, one");
}

/// A session shows its user's present roles, until it is ended.
pub async fn a_session_has_its_users_present_roles(harness: &impl Harness) {
    let acme = tenant(harness, "acme").await;
    let admin = Role::Tenant(acme.tenant(), TenantRole::Admin);
    let users = harness.users();
    let (ann, bob) = (user(harness, "Ann", &[admin]).await, user(harness, "Bob", &[]).await);
    let begin = async |user: UserId, cookie: &str| {
        users.begin_user_session(user, digest(cookie)).await.expect("begin a session")
    };
    assert!(!begin(bob, "bobs").await, "a user without a role has no session");
    assert!(begin(ann, "one").await && begin(ann, "two").await);
    let find =
        async |cookie: &str| users.user_session(digest(cookie)).await.expect("find a session");

    let session = find("one").await.expect("it was begun");
    assert_eq!((session.holder.user, session.holder.name.as_str()), (ann, "Ann"));
    assert_eq!(session.holder.roles, [admin]);
    users.touch_session(digest("one")).await.expect("record a use");
    let used = find("one").await.expect("it goes on").times;
    assert!(used.used_at >= session.times.used_at && used.begun_at == session.times.begun_at);
    users.give_role(Actor::Operator, ann, Role::Auditor).await.expect("give a role");
    assert_eq!(find("one").await.expect("it goes on").holder.roles.len(), 2);
    users.end_user_session(digest("one")).await.expect("end a session");
    assert_eq!(find("one").await, None);
    assert!(find("two").await.is_some(), "the other goes on");
    assert_eq!(users.end_user_sessions(Actor::User(ann), ann).await.expect("end all"), 1);
    assert_eq!(find("two").await, None);
    assert_eq!(find("guess").await, None);
}

/// A user without a role left has no session left.
pub async fn the_last_role_ends_the_sessions(harness: &impl Harness) {
    let ann = user(harness, "Ann", &[Role::Operator, Role::Auditor]).await;
    let users = harness.users();
    assert!(users.begin_user_session(ann, digest("one")).await.expect("begin a session"));
    let find = async || users.user_session(digest("one")).await.expect("find a session");

    users.take_role(Actor::Operator, ann, Role::Auditor).await.expect("take a role");
    assert!(find().await.is_some());
    users.take_role(Actor::Operator, ann, Role::Operator).await.expect("take a role");
    assert_eq!(find().await, None);
}

/// A token has its limits and its user's present roles, until it is revoked.
pub async fn a_token_has_its_limits_until_it_is_revoked(harness: &impl Harness) {
    let acme = tenant(harness, "acme").await;
    let users = harness.users();
    let ann = user(harness, "Ann", &[Role::Operator]).await;
    let (by, bob) = (Actor::User(ann), user(harness, "Bob", &[Role::Auditor]).await);
    let new = token("secret", &[Right::Read, Right::Work], Some(acme.tenant()));
    let created = users.create_api_token(by, ann, &new).await.expect("create a token");
    let TokenCreation::Created(id) = created else { panic!("{created:?}") };
    let find = async || users.api_token(digest("secret")).await.expect("find a token");

    let found = find().await.expect("it was created");
    assert_eq!((found.id, found.holder.user, &found.limits), (id, ann, &new.limits));
    assert_eq!((found.holder.roles.as_slice(), found.used_at), (&[Role::Operator][..], None));
    users.touch_api_token(id).await.expect("record a use");
    assert!(find().await.expect("it is there").used_at.is_some());
    let listed = users.api_tokens(Some(ann), None).await.expect("list tokens");
    assert_eq!((listed.len(), listed[0].name.as_str()), (1, "script"));
    assert_eq!(users.api_tokens(Some(bob), None).await.expect("list tokens"), []);
    let revoke = async |of| users.revoke_api_token(by, id, of).await.expect("revoke a token");
    assert!(!revoke(Some(bob)).await, "it is of another user");
    assert!(revoke(Some(ann)).await && !revoke(None).await);
    assert_eq!(find().await, None);
    assert!(users.api_tokens(None, None).await.expect("list tokens")[0].revoked_at.is_some());
}

/// A user has a bounded number of live tokens.
pub async fn a_user_has_a_bounded_number_of_tokens(harness: &impl Harness) {
    let users = harness.users();
    let ann = user(harness, "Ann", &[Role::Operator]).await;
    let create = async |user: UserId, secret: &str| {
        let new = token(secret, &[Right::Read], None);
        users.create_api_token(Actor::User(ann), user, &new).await.expect("create a token")
    };
    let mut first = None;
    for number in 0..API_TOKENS_MAX {
        let created = create(ann, &format!("s{number}")).await;
        let TokenCreation::Created(id) = created else { panic!("{created:?}") };
        first.get_or_insert(id);
    }

    assert_eq!(create(ann, "more").await, TokenCreation::TooMany);
    let first = first.expect("there is one");
    assert!(users.revoke_api_token(Actor::User(ann), first, None).await.expect("revoke"));
    assert!(matches!(create(ann, "more").await, TokenCreation::Created(_)));
    let unknown = UserId::from_uuid(uuid::Uuid::from_u128(404));
    assert_eq!(create(unknown, "other").await, TokenCreation::UnknownUser);
}

/// An operator reads a tenant's messages only while a second operator's approval holds. The tenant's audit log tells
/// each step.
pub async fn glass_is_broken_by_two_operators_and_told(harness: &impl Harness) {
    let acme = tenant(harness, "acme").await;
    let users = harness.users();
    let ann = user(harness, "Ann", &[Role::Operator]).await;
    let bob = user(harness, "Bob", &[Role::Operator]).await;
    assert!(users.begin_user_session(ann, digest("anns")).await.expect("begin a session"));
    let open = async || {
        let session = users.user_session(digest("anns")).await.expect("find a session");
        session.expect("it goes on").holder.open_glass
    };
    let scope = acme.with_actor(Actor::User(ann));
    let asked = users.ask_glass(scope, ann, "ticket 7", HOUR).await.expect("ask");
    assert_eq!((asked.tenant, asked.state), (acme.tenant(), GlassState::Asked));
    assert_eq!(open().await, []);

    let own = users.approve_glass(ann, asked.id).await.expect("approve").expect("it is there");
    assert_eq!(own, Err(GlassRefusal::SameUser));
    let approved = users.approve_glass(bob, asked.id).await.expect("approve");
    let approved = approved.expect("it is there").expect("a second operator approves");
    assert!(matches!(approved.state, GlassState::Open { approved_by, .. } if approved_by == bob));
    assert_eq!(open().await, [OpenGlass { tenant: acme.tenant() }]);
    let again = users.approve_glass(bob, asked.id).await.expect("approve").expect("it is there");
    assert_eq!(again, Err(GlassRefusal::NotAsked));
    let listed = users.glass_requests(Some(acme.tenant())).await.expect("list requests");
    assert_eq!(listed, std::slice::from_ref(&approved));
    assert!(users.end_glass(ann, asked.id).await.expect("end"));
    assert!(!users.end_glass(ann, asked.id).await.expect("end again"));
    assert_eq!(open().await, []);
    assert_eq!(kinds(harness, acme).await, ["glass-asked", "glass-approved", "glass-ended"]);
    let other = tenant(harness, "other").await;
    assert_eq!(users.glass_requests(Some(other.tenant())).await.expect("list requests"), []);
}

use proptest::prelude::*;
use uuid::Uuid;

use super::*;

const ACME: TenantId = TenantId::from_uuid(Uuid::from_u128(1));
const OTHER: TenantId = TenantId::from_uuid(Uuid::from_u128(2));
const USER: UserId = UserId::from_uuid(Uuid::from_u128(3));

fn access(roles: &[Role]) -> Access {
    Access {
        user: USER,
        name: "Ann".to_owned(),
        actor: Actor::User(USER),
        roles: roles.to_vec(),
        limits: None,
        open_glass: Vec::new(),
    }
}

/// The letters of the rights that a role includes in a place, or `-` if it sees nothing there.
fn rights(access: &Access, place: Place) -> String {
    let letters = [
        (Right::Read, 'r'),
        (Right::ReadMessages, 'm'),
        (Right::Work, 'w'),
        (Right::Manage, 'c'),
        (Right::ManageUsers, 'u'),
        (Right::ReadAudit, 'a'),
        (Right::Operate, 'o'),
    ];
    letters
        .into_iter()
        .filter(|(right, _)| access.allows(place, *right))
        .map(|(_, letter)| letter)
        .collect()
}

#[test]
fn each_role_has_its_rights() {
    let (acme, other) = (Place::Tenant(ACME), Place::Tenant(OTHER));
    let of_acme = |role| Role::Tenant(ACME, role);
    let cases = [
        (Role::Operator, "rwcuao", "rwcuao", "rwcuao"),
        (Role::Auditor, "ra", "ra", "ra"),
        (of_acme(TenantRole::Admin), "", "rmwcua", ""),
        (of_acme(TenantRole::Member), "", "rmw", ""),
        (of_acme(TenantRole::Auditor), "", "ra", ""),
    ];
    for (role, desk, in_acme, elsewhere) in cases {
        let access = access(&[role]);
        assert_eq!(rights(&access, Place::Desk), desk, "{role} on the desk");
        assert_eq!(rights(&access, acme), in_acme, "{role} in acme");
        assert_eq!(rights(&access, other), elsewhere, "{role} elsewhere");
    }
}

#[test]
fn a_foreign_tenant_looks_like_one_that_does_not_exist() {
    let access = access(&[Role::Tenant(ACME, TenantRole::Admin)]);

    for right in Right::ALL {
        assert_eq!(access.check(Place::Tenant(OTHER), right), Err(Denial::Hidden), "{right:?}");
    }
    assert_eq!(
        access.check(Place::Tenant(ACME), Right::Operate),
        Err(Denial::RoleLacks(Right::Operate))
    );
    assert_eq!(access.check(Place::Desk, Right::Read), Err(Denial::RoleLacks(Right::Read)));
}

#[test]
fn an_operator_reads_messages_only_through_broken_glass() {
    let mut operator = access(&[Role::Operator]);
    let messages =
        |access: &Access, tenant| access.allows(Place::Tenant(tenant), Right::ReadMessages);
    assert!(!messages(&operator, ACME));

    operator.open_glass = vec![OpenGlass { tenant: ACME }];
    assert!(messages(&operator, ACME));
    assert!(!messages(&operator, OTHER));
    assert!(!operator.allows(Place::Desk, Right::ReadMessages));
    let auditor =
        Access { open_glass: vec![OpenGlass { tenant: ACME }], ..access(&[Role::Auditor]) };
    assert!(!messages(&auditor, ACME), "glass is broken for operators");
}

fn roles() -> impl Strategy<Value = Vec<Role>> {
    let tenants = prop_oneof![Just(ACME), Just(OTHER)];
    let tenant_roles = proptest::sample::select(TenantRole::ALL.to_vec());
    let role = prop_oneof![
        1 => Just(Role::Operator),
        1 => Just(Role::Auditor),
        4 => (tenants, tenant_roles).prop_map(|(tenant, role)| Role::Tenant(tenant, role)),
    ];
    proptest::collection::vec(role, 0..4)
}

fn places() -> impl Strategy<Value = Place> {
    prop_oneof![Just(Place::Desk), Just(Place::Tenant(ACME)), Just(Place::Tenant(OTHER))]
}

fn limits() -> impl Strategy<Value = TokenLimits> {
    let tenant = proptest::option::of(prop_oneof![Just(ACME), Just(OTHER)]);
    let rights = proptest::sample::subsequence(Right::ALL.to_vec(), 0..=Right::ALL.len());
    (rights, tenant)
        .prop_map(|(rights, tenant)| TokenLimits { rights: rights.into_iter().collect(), tenant })
}

proptest! {
    #[test]
    fn a_token_never_does_more_than_its_user(roles in roles(), limits in limits(), place in places()) {
        let user = access(&roles);
        let token = Access { limits: Some(limits.clone()), ..access(&roles) };
        for right in Right::ALL {
            if token.allows(place, right) {
                prop_assert!(user.allows(place, right), "{right:?}");
                prop_assert!(limits.rights.contains(&right));
                prop_assert!(limits.tenant.is_none_or(|only| place == Place::Tenant(only)));
            }
        }
    }

    #[test]
    fn another_role_never_takes_a_right_away(roles in roles(), more in roles(), place in places()) {
        let both: Vec<Role> = roles.iter().chain(&more).copied().collect();
        for right in Right::ALL {
            let before = access(&roles).allows(place, right);
            prop_assert!(!before || access(&both).allows(place, right), "{right:?}");
        }
    }

    #[test]
    fn without_a_role_nothing_is_allowed(place in places()) {
        for right in Right::ALL {
            prop_assert!(!access(&[]).allows(place, right));
        }
    }
}

#[test]
fn an_operator_enters_only_the_first_readers_of_a_tenant() {
    let of_acme = |role| access(&[Role::Tenant(ACME, role)]);
    let cases = [
        ("operator, no reader yet", access(&[Role::Operator]), false, Ok(())),
        ("operator, later", access(&[Role::Operator]), true, Err(Denial::TenantDecides)),
        ("the tenant's admin", of_acme(TenantRole::Admin), true, Ok(())),
        (
            "a member",
            of_acme(TenantRole::Member),
            false,
            Err(Denial::RoleLacks(Right::ManageUsers)),
        ),
        (
            "another tenant's admin",
            access(&[Role::Tenant(OTHER, TenantRole::Admin)]),
            false,
            Err(Denial::Hidden),
        ),
    ];
    for (name, access, has_reader, want) in cases {
        assert_eq!(access.check_new_reader(ACME, has_reader), want, "{name}");
    }
    assert_eq!(reads_messages_of(Role::Tenant(ACME, TenantRole::Member)), Some(ACME));
    assert_eq!(reads_messages_of(Role::Tenant(ACME, TenantRole::Auditor)), None);
    assert_eq!(reads_messages_of(Role::Operator), None);
}

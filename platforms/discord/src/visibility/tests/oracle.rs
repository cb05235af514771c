//! Compares the permissions with those of an independent library.

use proptest::prelude::*;
use twilight_model::channel::ChannelType;
use twilight_model::channel::permission_overwrite::{PermissionOverwrite, PermissionOverwriteType};
use twilight_model::guild::Permissions;
use twilight_util::permission_calculator::PermissionCalculator;

use super::*;

/// Role ids of the test. The first is the guild's base role, the last a deleted one.
const ROLES: [u64; 6] = [70, 71, 72, 73, 74, 79];
const PERSON: u64 = 900;

#[derive(Clone, Debug)]
struct Case {
    owner: u64,
    roles: Vec<u64>,
    has: Vec<bool>,
    overwrites: Vec<(usize, bool, u64, u64)>,
}

fn bits() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => Just(0),
        4 => Just(VIEW),
        1 => Just(ADMINISTRATOR),
        1 => Just(VIEW | 1 << 11),
        1 => any::<u64>().prop_map(|bits| bits & 0x3ff_ffff_ffff),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let overwrite = (0..ROLES.len(), any::<bool>(), bits(), bits());
    (
        prop_oneof![9 => Just(1), 1 => Just(PERSON)],
        prop::collection::vec(bits(), ROLES.len() - 1),
        prop::collection::vec(any::<bool>(), ROLES.len()),
        prop::collection::vec(overwrite, 0..6),
    )
        .prop_map(|(owner, roles, has, overwrites)| Case { owner, roles, has, overwrites })
}

impl Case {
    fn held(&self) -> Vec<u64> {
        let held = ROLES.iter().zip(&self.has).skip(1).filter(|(_, has)| **has);
        held.map(|(role, _)| *role).collect()
    }

    /// Returns one overwrite per role and person: Discord has no duplicates.
    fn overwrites(&self) -> Vec<(u64, bool, u64, u64)> {
        let mut seen = std::collections::BTreeSet::new();
        let named = self.overwrites.iter().map(|(which, is_of_person, allow, deny)| {
            let id = if *is_of_person { PERSON + *which as u64 } else { ROLES[*which] };
            (id, *is_of_person, *allow, *deny)
        });
        named.filter(|one| seen.insert(one.0)).collect()
    }

    fn told(&self) -> Value {
        let roles = ROLES.iter().zip(&self.roles);
        let roles: Vec<Value> = roles
            .map(|(id, bits)| json!({ "id": id.to_string(), "permissions": bits.to_string() }))
            .collect();
        let overwrite = |(id, is_of_person, allow, deny): (u64, bool, u64, u64)| {
            json!({
                "id": id.to_string(), "type": u8::from(is_of_person),
                "allow": allow.to_string(), "deny": deny.to_string(),
            })
        };
        let overwrites: Vec<Value> = self.overwrites().into_iter().map(overwrite).collect();
        let held: Vec<String> = self.held().iter().map(u64::to_string).collect();
        json!({
            "id": "70", "owner_id": self.owner.to_string(), "roles": roles,
            "channels": [{ "id": "500", "type": 0, "permission_overwrites": overwrites }],
            "members": [{ "user": { "id": PERSON.to_string() }, "roles": held }],
        })
    }

    fn oracle(&self) -> bool {
        let bits = |bits: u64| Permissions::from_bits_retain(bits);
        let of =
            |role: &u64| ROLES.iter().position(|one| one == role).and_then(|at| self.roles.get(at));
        let held = self.held();
        let roles: Vec<_> = held
            .iter()
            .filter_map(|role| Some((twilight_model::id::Id::new(*role), bits(*of(role)?))))
            .collect();
        let overwrites: Vec<PermissionOverwrite> = self
            .overwrites()
            .into_iter()
            .filter(|(id, ..)| *id != 79)
            .map(|(id, is_of_person, allow, deny)| PermissionOverwrite {
                allow: bits(allow),
                deny: bits(deny),
                id: twilight_model::id::Id::new(id),
                kind: if is_of_person {
                    PermissionOverwriteType::Member
                } else {
                    PermissionOverwriteType::Role
                },
            })
            .collect();
        let (guild, person) =
            (twilight_model::id::Id::new(70), twilight_model::id::Id::new(PERSON));
        let calculator = PermissionCalculator::new(guild, person, bits(self.roles[0]), &roles)
            .owner_id(twilight_model::id::Id::new(self.owner));
        calculator
            .in_channel(ChannelType::GuildText, &overwrites)
            .contains(Permissions::VIEW_CHANNEL)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn who_sees_a_channel_is_who_others_say_does(case in case()) {
        let stage = Stage(GuildCache::default());
        stage.told("GUILD_CREATE", &case.told());
        let sees = stage.sight("500", &PERSON.to_string());
        prop_assert_eq!(sees, if case.oracle() { Visibility::Sees } else { Visibility::Blind });
    }

    #[test]
    fn nothing_told_stops_us(kind in 0..8_usize, told in any::<String>(), odd in 0..5_usize) {
        let kinds = [
            "GUILD_CREATE", "GUILD_UPDATE", "GUILD_ROLE_UPDATE", "CHANNEL_UPDATE",
            "THREAD_LIST_SYNC", "THREAD_MEMBERS_UPDATE", "GUILD_MEMBER_REMOVE", "MESSAGE_CREATE",
        ];
        let told = match odd {
            0 => told,
            1 => json!({ "guild_id": "70", "id": "70", "x": told }).to_string(),
            2 => json!({ "guild_id": told }).to_string(),
            3 => json!({ "id": "70", "roles": [{ "id": told }] }).to_string(),
            _ => "null".to_owned(),
        };
        let stage = Stage::new();
        stage.0.apply_event(bot().id, kinds[kind], told.as_bytes());
        prop_assert!(stage.sight("599", ANN) == Visibility::Unknown);
    }
}

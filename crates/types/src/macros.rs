//! Macros for the types of all crates.

/// Names the variants of an enum, for rows, the wire and commands. A variant without a name does not compile.
#[macro_export]
macro_rules! slugs {
    ($kind:ident: $($variant:ident = $slug:literal,)+) => {
        impl $kind {
            /// All variants, in their order.
            pub const ALL: [Self; [$($slug),+].len()] = [$(Self::$variant),+];

            /// Returns the name in rows and for programs.
            pub const fn slug(self) -> &'static str {
                match self {
                    $(Self::$variant => $slug,)+
                }
            }

            /// Returns the variant with this name.
            pub fn from_slug(slug: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.slug() == slug)
            }
        }
    };
}

/// Implements `Debug` for a type whose content is too large or too secret to print: the name of the type.
#[macro_export]
macro_rules! opaque_debug {
    ($kind:ident) => {
        impl ::std::fmt::Debug for $kind {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(stringify!($kind))
            }
        }
    };
}

/// Does not compile if a type that holds a secret has `==`, whose time tells how much of a guess is right: then both
/// implementations apply, and the compiler cannot choose one.
#[macro_export]
macro_rules! no_comparison {
    ($kind:ident) => {
        const _: fn() = || {
            trait NotComparable<Choice> {
                fn check() {}
            }
            impl<T: ?Sized> NotComparable<()> for T {}
            impl<T: ?Sized + PartialEq> NotComparable<u8> for T {}
            <$kind as NotComparable<_>>::check();
        };
    };
}

#[cfg(test)]
mod tests {
    use crate::ClientRules;

    struct Opaque;

    crate::opaque_debug!(Opaque);

    #[test]
    fn a_variant_is_found_by_its_name() {
        let all = ClientRules::ALL;

        assert_eq!(all.map(ClientRules::slug), ["hermes-0.19", "hermes-0.20", "nightdesk-sdk"]);
        assert_eq!(all.map(|one| ClientRules::from_slug(one.slug())), all.map(Some));
        assert_eq!(ClientRules::from_slug("hermes"), None);
    }

    #[test]
    fn an_opaque_type_shows_its_name() {
        assert_eq!(format!("{Opaque:?}"), "Opaque");
    }
}

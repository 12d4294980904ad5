//! Settings: typed, documented and checked in one place.
//!
//! A struct of settings is declared with [`settings!`](crate::settings!): each field has its type, its allowed values
//! and a line of documentation. Files and changes are checked against that table, and `cinoc list` prints it. A
//! [`Config`] is the whole tree of a run: the sections of a problem, then `policy` and `train`.

mod config;
#[cfg(feature = "files")]
mod lasting;
mod overlay;
mod rule;

pub use config::Config;
#[cfg(feature = "files")]
pub(crate) use lasting::lasting;
pub use overlay::Overlay;
#[doc(hidden)]
pub use overlay::nearest;
pub(crate) use overlay::{fill, invalid, parse};
#[doc(hidden)]
pub use rule::{Kind, Rule, Setting};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A group of settings with a table of its keys.
pub trait Settings: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {
    /// Returns every key, in order, with its documentation and allowed values.
    fn table() -> Vec<Setting>;
}

/// Declares one or several structs of settings: `field: type = bounds`, with a doc line that users read too. A setting
/// that was added later has an attribute `#[absent = value]`: its value in older files.
///
/// ```
/// cinoc::settings! {
///     /// Constants of an equation.
///     pub struct Physics {
///         /// Nodes of the grid.
///         nodes: usize = 8..=4096,
///         /// Diffusivity.
///         nu: f64 = 1e-9..=1e3,
///     }
/// }
/// ```
#[macro_export]
macro_rules! settings {
    ($($(#[doc = $about:literal])* pub struct $name:ident { $($(#[doc = $line:literal])* $(#[absent = $absent:expr])? $field:ident: $kind:ty = $bounds:expr),* $(,)? })+) => {$(
        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[doc = $line])* #[doc(hidden)] pub $field: $kind,)*
        }

        $crate::by_mirror! { $name, struct { $($field: $kind),* } }

        #[doc(hidden)]
        impl $crate::settings::Settings for $name {
            fn table() -> Vec<$crate::settings::Setting> {
                vec![$($crate::settings::Setting {
                    key: stringify!($field),
                    about: concat!($($line),*).trim().into(),
                    rule: <$kind as $crate::settings::Kind>::rule($bounds),
                    absent: None$(.or($crate::settings::value::<$kind>($absent)))?,
                }),*]
            }
        }

        #[doc(hidden)]
        impl $crate::settings::Kind for $name {
            type Bounds = ();
            fn rule((): ()) -> $crate::settings::Rule {
                $crate::settings::Rule::Section(<Self as $crate::settings::Settings>::table())
            }
        }
    )+};
}

/// A value as stored in files.
#[doc(hidden)]
pub fn value<T: Serialize>(value: T) -> Option<toml::Value> {
    toml::Value::try_from(value).ok()
}

/// Declares an enum of words: `Variant = "word"`, with a doc line for each.
#[macro_export]
macro_rules! words {
    ($(#[doc = $about:literal])* pub enum $name:ident { $($(#[doc = $line:literal])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[doc = $line])* $variant,)*
        }

        $crate::by_mirror! { $name, enum { $($variant = $word),* } }

        #[doc(hidden)]
        impl $crate::settings::Kind for $name {
            type Bounds = ();
            fn rule((): ()) -> $crate::settings::Rule {
                $crate::settings::Rule::Word(vec![$(($word, concat!($($line),*).trim())),*])
            }
        }
    };
}

/// Implements `Serialize` and `Deserialize` by a mirror of the type with the same name, for which serde derives them.
///
/// serde's derive takes the path of its crate as a string, in which `$crate` is not expanded. Inside a block the path
/// can be a name that the block imports, so that the macros above work under any name of this crate in the dependent's
/// manifest.
#[doc(hidden)]
#[macro_export]
macro_rules! by_mirror {
    ($name:ident, struct { $($field:ident: $kind:ty),* }) => {
        const _: () = {
            type Original = $name;
            const _: () = {
                use $crate::serde as mirrored_serde;

                #[derive(mirrored_serde::Serialize, mirrored_serde::Deserialize)]
                #[serde(crate = "mirrored_serde")]
                struct $name {
                    $($field: $kind,)*
                }

                #[doc(hidden)]

                impl mirrored_serde::Serialize for Original {
                    fn serialize<S: mirrored_serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                        let mirror = $name { $($field: self.$field.clone(),)* };
                        mirrored_serde::Serialize::serialize(&mirror, serializer)
                    }
                }

                #[doc(hidden)]

                impl<'de> mirrored_serde::Deserialize<'de> for Original {
                    fn deserialize<D: mirrored_serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                        let $name { $($field,)* } = mirrored_serde::Deserialize::deserialize(deserializer)?;
                        Ok(Self { $($field,)* })
                    }
                }
            };
        };
    };
    ($name:ident, enum { $($variant:ident = $word:literal),* }) => {
        const _: () = {
            type Original = $name;
            const _: () = {
                use $crate::serde as mirrored_serde;

                #[derive(mirrored_serde::Serialize, mirrored_serde::Deserialize)]
                #[serde(crate = "mirrored_serde")]
                enum $name {
                    $(#[serde(rename = $word)] $variant,)*
                }

                #[doc(hidden)]

                impl mirrored_serde::Serialize for Original {
                    fn serialize<S: mirrored_serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                        let mirror = match self {
                            $(Self::$variant => $name::$variant,)*
                        };
                        mirrored_serde::Serialize::serialize(&mirror, serializer)
                    }
                }

                #[doc(hidden)]

                impl<'de> mirrored_serde::Deserialize<'de> for Original {
                    fn deserialize<D: mirrored_serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                        Ok(match <$name as mirrored_serde::Deserialize>::deserialize(deserializer)? {
                            $($name::$variant => Self::$variant,)*
                        })
                    }
                }
            };
        };
    };
}

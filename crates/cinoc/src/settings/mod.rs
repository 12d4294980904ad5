//! Settings: typed, explained and checked in one place.
//!
//! A struct of settings is written with [`settings!`](crate::settings!): each field has its type, the values it may take and a line that
//! explains it. That table is all there is to know about a key: files and `--set` are checked against it, `cinoc list` prints it.
//! A [`Config`] is the whole tree of a run: the sections of a problem, then `policy` and `train`.

mod config;
mod overlay;
mod rule;

pub use config::Config;
pub(crate) use overlay::fill;
pub use overlay::{Overlay, distance};
pub use rule::{Kind, Rule, Setting};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A group of settings that knows its own keys.
pub trait Settings: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {
    /// Every key, in order, with its explanation and the values it may take.
    fn table() -> Vec<Setting>;
}

/// Declares structs of settings, one or several: `field: type = bounds`, with a doc line that is also what a user reads.
/// A setting that came later says with `#[absent = value]` what files of before meant without it.
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
        #[derive(Clone, Debug, PartialEq, $crate::serde::Serialize, $crate::serde::Deserialize)]
        #[serde(crate = "cinoc::serde")]
        pub struct $name {
            $($(#[doc = $line])* pub $field: $kind,)*
        }

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

        impl $crate::settings::Kind for $name {
            type Bounds = ();
            fn rule((): ()) -> $crate::settings::Rule {
                $crate::settings::Rule::Section(<Self as $crate::settings::Settings>::table())
            }
        }
    )+};
}

/// A value as files hold it.
pub fn value<T: Serialize>(value: T) -> Option<toml::Value> {
    toml::Value::try_from(value).ok()
}

/// Declares a choice between words: `Variant = "word"`, with a doc line for each.
#[macro_export]
macro_rules! words {
    ($(#[doc = $about:literal])* pub enum $name:ident { $($(#[doc = $line:literal])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, $crate::serde::Serialize, $crate::serde::Deserialize)]
        #[serde(crate = "cinoc::serde")]
        pub enum $name {
            $($(#[doc = $line])* #[serde(rename = $word)] $variant,)*
        }

        impl $crate::settings::Kind for $name {
            type Bounds = ();
            fn rule((): ()) -> $crate::settings::Rule {
                $crate::settings::Rule::Word(vec![$(($word, concat!($($line),*).trim())),*])
            }
        }
    };
}

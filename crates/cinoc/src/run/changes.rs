//! Settings of a run that may change when it is resumed.

use crate::Error;
use std::collections::BTreeMap;
use std::path::Path;
use toml::{Table, Value};

/// Settings that may change, and in which direction: a run may be extended, and after a divergence it may continue with
/// smaller steps. Any other change would leave no record of how the policy was trained.
const MAY_CHANGE: [(&str, Direction); 5] = [
    ("train.updates", Direction::Up),
    ("train.rate", Direction::Down),
    ("train.rate_start", Direction::Down),
    ("train.rate_end", Direction::Down),
    ("train.clip", Direction::Down),
];

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Up,
    Down,
}

/// Checks that a run with the settings `was` may continue with the settings `asked`, both as TOML.
pub fn check(was: &str, asked: &str, folder: &Path) -> Result<(), Error> {
    let (was, asked) = (flattened(was), flattened(asked));
    let show = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    // The problem first: if it differs, so do most settings.
    let keys = std::iter::once("problem").chain(was.keys().chain(asked.keys()).map(String::as_str));
    for key in keys {
        let (old, new) = (was.get(key), asked.get(key));
        if old == new {
            continue;
        }
        let way = MAY_CHANGE.iter().find(|(may, _)| *may == key).map(|(_, way)| *way);
        let (path, key, was, asked) = (folder.to_owned(), key.to_owned(), show(old), show(new));
        match (way, old.and_then(number), new.and_then(number)) {
            (Some(Direction::Up), Some(old), Some(new)) if new > old => {}
            (Some(Direction::Down), Some(old), Some(new)) if new < old => {}
            (Some(way), ..) => {
                let way = if way == Direction::Up { "raised" } else { "lowered" };
                return Err(Error::ResumeWay { path, key, was, asked, way });
            }
            (None, ..) => return Err(Error::ResumeOther { path, key, was, asked }),
        }
    }
    Ok(())
}

fn number(value: &Value) -> Option<f64> {
    value.as_float().or(value.as_integer().map(|i| i as f64))
}

/// Returns every setting by its full key.
fn flattened(text: &str) -> BTreeMap<String, Value> {
    fn flatten(prefix: &str, table: Table, out: &mut BTreeMap<String, Value>) {
        for (key, value) in table {
            match value {
                Value::Table(inner) => flatten(&format!("{prefix}{key}."), inner, out),
                value => drop(out.insert(format!("{prefix}{key}"), value)),
            }
        }
    }
    let mut all = BTreeMap::new();
    // Both texts were written by this crate.
    flatten("", text.parse().unwrap_or_default(), &mut all);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "problem = \"heat1d\"\n[physics]\nticks = 4.0\n[train]\nupdates = 500\nrate = 0.002\nclip = 1.0\n";

    fn answer(change: (&str, &str)) -> String {
        let asked = RUN.replace(change.0, change.1);
        check(RUN, &asked, Path::new("run")).err().map_or_else(String::new, |e| e.to_string())
    }

    #[test]
    fn only_some_settings_may_change_and_only_one_way() {
        for fine in [("x", "x"), ("= 500", "= 800"), ("0.002", "0.001"), ("clip = 1.0", "clip = 0.5")] {
            assert_eq!(answer(fine), "", "{fine:?}");
        }
        for (change, expected) in [
            (("= 500", "= 400"), "train.updates may only be raised"),
            (("0.002", "0.003"), "train.rate may only be lowered"),
            (("ticks = 4.0", "ticks = 5.0"), "physics.ticks = 4.0, not 5.0"),
            (("heat1d", "ks1d"), "problem = \"heat1d\", not \"ks1d\""),
            (("ticks = 4.0", ""), "physics.ticks = 4.0, not nothing"),
            (("ticks = 4.0", "ticks = 4.0\nnodes = 9.0"), "physics.nodes = nothing, not 9.0"),
        ] {
            let text = answer(change);
            assert!(text.contains(expected), "{change:?}: {text}");
        }
    }
}

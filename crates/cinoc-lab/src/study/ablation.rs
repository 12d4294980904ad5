//! `ablation`: ingredients of the recipe, each switched off, and each switched on in the paper's setting.

use super::{Case, Chart, RATIO, Scale, Study, Subject, score};
use cinoc::problem::Preset;
use cinoc::settings::Overlay;
use cinoc::{Config, Error};
use std::collections::BTreeMap;
use toml::{Table, Value};

pub const STUDY: Study = Study {
    name: "ablation",
    about: "Ingredients of the sharp recipe, each left out, and each added to the paper's setting; trained for each.",
    x: Scale::linear("row"),
    y: RATIO,
    chart: Chart::Card,
    effort: false,
    cases,
    measure: score,
};

/// Ingredients and their settings: without an ingredient these have the values of the paper's setting. A name that ends
/// in `*` stands for all settings that begin with it.
const INGREDIENTS: [(&str, &[&str]); 13] = [
    ("view of the target", &["observe.target"]),
    ("gaps to neighbours", &["observe.gaps"]),
    ("window", &["observe.*"]),
    ("weaker pushes in crowds", &["swarm.crowd", "swarm.crowd_width"]),
    ("lattice at the start", &["swarm.*"]),
    ("other numbers of agents", &["train.agents"]),
    ("failures in training", &["train.deaths", "train.blocks", "train.dropout"]),
    ("other strengths", &["train.strength*"]),
    ("other positions", &["train.clustered", "train.scattered", "train.start_jitter"]),
    ("weight of effort", &["cost.effort"]),
    ("final error in the cost", &["cost.*"]),
    ("distance to obstacles", &["obstacles.*"]),
    ("optimiser", &["train.*"]),
];

/// Settings that all cases share: the plant, the instances, and the length and validation of training.
const SHARED: [&str; 7] =
    ["physics.*", "data.*", "train.updates", "train.validate*", "train.checkpoint_every", "train.segment", "train.memory_mb"];

/// Parts of the shipped network. Without both it is a DeepONet whose branch and trunk are multiplied.
const PARTS: [(&str, &str); 2] = [("memory", "policy.memory"), ("linear path", "policy.linear")];

/// Ingredients that the sharp recipe does not have, and the change that adds each.
const OTHERS: [(&str, &str, Value); 2] =
    [("roughness", "observe.roughness", Value::Boolean(true)), ("messages of two numbers", "policy.messages", Value::Integer(2))];

/// Settings by their full names.
type Settings = BTreeMap<String, Value>;

fn cases(subject: &Subject) -> Result<Vec<Case>, Error> {
    let of = |preset| subject.registry.config(subject.config.problem(), preset, &Overlay::default());
    let (ours, paper) = (settings(&of(Preset::Tuned)?), settings(&of(Preset::Paper)?));
    let mut cases = Vec::new();
    for (line, wanted) in variants(&ours, &paper) {
        let trained = changes(&ours, &wanted);
        if !subject.allows(&trained) {
            continue;
        }
        for (how, times, fail) in
            [("", 1.0, 0.0), (", half the agents", 0.5, 0.0), (", four times", 4.0, 0.0), (", failures", 1.0, 0.3)]
        {
            cases.push(Case {
                line: format!("{line}{how}"),
                x: cases.len() as f64 + 1.0,
                trained: Some(trained.clone()),
                agents: Some(subject.agents(times)),
                fail,
                fail_at: if fail > 0.0 { 0.5 } else { 0.0 },
                ..Case::default()
            });
        }
    }
    Ok(cases)
}

/// Returns the settings of all cases with their names.
fn variants(ours: &Settings, paper: &Settings) -> Vec<(String, Settings)> {
    let network = |of: &Settings| -> Settings { of.iter().filter(|(key, _)| key.starts_with("policy.")).map(own).collect() };
    // The paper's setting on the same plant, trained as long.
    let mut plain = paper.clone();
    for (key, value) in ours.iter().filter(|(key, _)| SHARED.iter().any(|name| names(name, key))) {
        plain.insert(key.clone(), value.clone());
    }
    let mut all = vec![("as shipped".to_owned(), ours.clone()), ("the paper's setting".to_owned(), plain.clone())];
    let mut add = |what: &str, without: Settings, with: Settings| {
        if without != *ours {
            all.push((format!("without: {what}"), without));
            all.push((format!("only: {what}"), with));
        }
    };
    let exchanged = |settings: &Settings, network: Settings| -> Settings {
        let rest = settings.iter().filter(|(key, _)| !key.starts_with("policy.")).map(own);
        rest.chain(network).collect()
    };
    let bare = |but: Option<&str>| -> Settings {
        let mut bare = network(ours);
        for (_, key) in PARTS.iter().filter(|(_, key)| Some(*key) != but) {
            bare.insert((*key).into(), Value::Integer(0));
        }
        bare
    };
    add("network", exchanged(ours, network(paper)), exchanged(&plain, bare(None)));
    for (what, key) in PARTS {
        let mut without = ours.clone();
        without.insert(key.into(), Value::Integer(0));
        add(what, without, exchanged(&plain, bare(Some(key))));
    }
    for (index, (what, _)) in INGREDIENTS.iter().enumerate() {
        let (mut without, mut with) = (ours.clone(), plain.clone());
        for key in ours.keys().filter(|key| ingredient(key) == Some(index)) {
            without.extend(paper.get(key).map(|value| (key.clone(), value.clone())));
            with.insert(key.clone(), ours[key].clone());
        }
        add(what, without, with);
    }
    for (what, key, value) in OTHERS {
        let with = |settings: &Settings| settings.iter().map(own).chain([(key.to_owned(), value.clone())]).collect();
        all.push((format!("with: {what}"), with(ours)));
        if key.starts_with("observe.") {
            all.push((format!("only: {what}"), with(&plain)));
        }
    }
    all
}

/// Returns the first ingredient that a setting belongs to.
fn ingredient(key: &str) -> Option<usize> {
    let shared = SHARED.iter().any(|name| names(name, key));
    INGREDIENTS.iter().position(|(_, keys)| !shared && keys.iter().any(|name| names(name, key)))
}

/// Returns true if a name, which may end in `*`, is that of the setting.
fn names(name: &str, key: &str) -> bool {
    name.strip_suffix('*').map_or(name == key, |start| key.starts_with(start))
}

fn own((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

/// Returns all settings.
fn settings(config: &Config) -> Settings {
    fn walk(table: &Table, prefix: &str, out: &mut Settings) {
        for (key, value) in table {
            match value {
                Value::Table(inner) => walk(inner, &format!("{prefix}{key}."), out),
                value => {
                    out.insert(format!("{prefix}{key}"), value.clone());
                }
            }
        }
    }
    let mut out = Settings::new();
    walk(config.tree(), "", &mut out);
    out
}

/// Returns the changes that make the first settings the second.
fn changes(from: &Settings, to: &Settings) -> Vec<String> {
    let other_kind = from.get("policy.kind") != to.get("policy.kind");
    let differs = |key: &str, value: &Value| from.get(key) != Some(value) || (other_kind && key.starts_with("policy."));
    to.iter().filter(|(key, value)| differs(key, value)).map(|(key, value)| format!("{key}={value}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cinoc::Registry;

    #[test]
    fn settings_that_differ_belong_to_an_ingredient() {
        let registry = Registry::builtin();
        for problem in registry.problems() {
            let of = |preset| settings(&registry.config(problem, preset, &Overlay::default()).unwrap());
            let (ours, paper) = (of(Preset::Tuned), of(Preset::Paper));
            for key in ours.keys().chain(paper.keys()).filter(|key| ours.get(*key) != paper.get(*key)) {
                let known = key.starts_with("policy.") || SHARED.iter().any(|name| names(name, key)) || ingredient(key).is_some();
                assert!(known, "{problem}: {key} belongs to no ingredient");
            }
        }
    }

    #[test]
    fn changes_lead_to_the_settings() {
        let registry = Registry::builtin();
        for problem in ["heat1d", "ks1d"] {
            let base = registry.config(problem, Preset::Tuned, &Overlay::default()).unwrap();
            let of = |preset| settings(&registry.config(problem, preset, &Overlay::default()).unwrap());
            let (ours, paper) = (of(Preset::Tuned), of(Preset::Paper));
            for (line, wanted) in variants(&ours, &paper) {
                let overlay = Overlay::from_pairs(changes(&ours, &wanted)).unwrap();
                let changed = registry.change(&base, &overlay).unwrap_or_else(|error| panic!("{problem}, {line}: {error}"));
                assert_eq!(settings(&changed), wanted, "{problem}, {line}");
            }
        }
    }
}

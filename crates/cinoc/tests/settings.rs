//! Every setting is documented and checked, and survives a file.

mod common;

use cinoc::policy::{DeepONet, Plant, Policy, PolicyDefinition, ZeroControl};
use cinoc::problem::Preset;
use cinoc::settings::{Overlay, Rule, Setting};
use cinoc::{Config, Error, Registry};
use common::names;

fn presets() -> impl Iterator<Item = Config> {
    let each = |name| [Preset::Tuned, Preset::Robust, Preset::Paper].map(|preset| (name, preset));
    let config = |(name, preset)| Registry::builtin().config(name, preset, &Overlay::default()).expect("a preset");
    names().into_iter().flat_map(each).map(config)
}

/// Returns every key that has a value, as a user writes it.
fn keys(table: &[Setting], prefix: &str) -> Vec<(String, Setting)> {
    let each = |setting: &Setting| match &setting.rule {
        Rule::Section(inner) => keys(inner, &format!("{prefix}{}.", setting.key)),
        _ => vec![(format!("{prefix}{}", setting.key), setting.clone())],
    };
    table.iter().flat_map(each).collect()
}

fn all_keys(config: &Config) -> Vec<(String, Setting)> {
    keys(&Registry::builtin().settings(config).expect("a table"), "")
}

fn change(config: &Config, changes: &[&str]) -> Result<Config, Error> {
    Registry::builtin().change(config, &Overlay::from_pairs(changes)?)
}

fn complaint(config: &Config, changes: &[&str]) -> String {
    change(config, changes).err().unwrap_or_else(|| panic!("{changes:?} should be refused")).to_string()
}

#[test]
fn every_setting_is_explained() {
    /// Checks for a sentence or more, or a phrase without a full stop in its middle.
    fn sound(place: &str, text: &str) {
        assert!(text.chars().count() > 3 && text.trim() == text, "{place}: {text:?}");
        assert!(text.ends_with('.') || !text.contains(". "), "{place}: {text:?} ends in the middle of a sentence");
    }
    for config in presets() {
        let table = Registry::builtin().settings(&config).expect("a table");
        table.iter().for_each(|section| sound(section.key, &section.about));
        for (key, setting) in keys(&table, "") {
            sound(&key, &setting.about);
            sound(&key, &setting.rule.expected());
            if let Rule::Word(words) = setting.rule {
                words.iter().for_each(|(word, about)| sound(&format!("{key}={word}"), about));
            }
        }
    }
}

/// Counts the values of a section and of those inside it.
fn leaves(value: &toml::Value) -> usize {
    value.as_table().map_or(1, |table| table.values().map(leaves).sum())
}

#[test]
fn presets_follow_their_own_rules() {
    for config in presets() {
        let keys = all_keys(&config);
        for (key, setting) in &keys {
            let value = config.get(key).unwrap_or_else(|| panic!("{} has no {key}", config.problem()));
            assert!(setting.rule.allows(value), "{}: {key} = {value}", config.problem());
        }
        let values: usize = config.tree().values().map(leaves).sum();
        assert_eq!(values, keys.len(), "{}: every value has its rule", config.problem());
        let parts = Registry::builtin().parts(&config).unwrap_or_else(|error| panic!("{error}"));
        assert!(parts.problem.agents > 0 && parts.train.updates > 0);
    }
}

/// Returns values that a rule does not allow.
fn wrong(rule: &Rule) -> Vec<String> {
    let text = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let outside = |low: f64, high: f64| vec![format!("{:?}", low - 1.0 - low.abs()), format!("{:?}", 2.0 * high + 1.0)];
    let list = |entry: &str, count: usize| format!("[{}]", vec![entry; count].join(", "));
    match rule {
        Rule::Whole(range) => {
            let mut all = text(&["-1", "1.5", "nan", "inf", "-inf", "99999999999999999999", "many", "\"3\"", "true", "[3]", ""]);
            all.push((range.end() + 1).to_string());
            all.extend(range.start().checked_sub(1).map(|low| low.to_string()));
            all
        }
        Rule::Number(range) => {
            let mut all =
                text(&["nan", "-nan", "inf", "-inf", "1e300", "-1e300", "1e999", "many", "true", "[0.5]", "1979-05-27"]);
            all.extend(outside(*range.start(), *range.end()));
            all
        }
        Rule::Flag => text(&["1", "0.0", "yes", "\"true\"", "[true]", "True"]),
        Rule::Word(_) => text(&["no-such-word", "\"\"", "1", "true", "[\"concat\"]"]),
        Rule::Pair(range) => {
            let mut all = text(&["1.0", "[]", "[1.0]", "[1.0, 1.0, 1.0]", "[nan, 1.0]", "[1.0, inf]", "[\"a\", \"b\"]", "two"]);
            all.extend(outside(*range.start(), *range.end()).iter().map(|x| format!("[{x}, {x}]")));
            all.push(format!("[{:?}, {:?}]", range.end(), range.start()));
            all
        }
        Rule::Wholes { count, each } => {
            let mut all = text(&["16", "[1.5]", "[-1]", "[nan]", "[\"a\"]", "[[16]]", "some"]);
            all.push(list(&each.start().to_string(), count.end() + 1));
            all.extend(count.start().checked_sub(1).map(|fewer| list(&each.start().to_string(), fewer)));
            all.push(list(&(each.end() + 1).to_string(), *count.end()));
            all
        }
        Rule::Triples { count, .. } => {
            let mut all = text(&["0.5", "[0.5, 0.5, 0.1]", "[[0.5, 0.5]]", "[[0.5, 0.5, nan]]", "[[0.5, 0.5, 1e300]]", "[[]]"]);
            all.push(list("[0.5, 0.5, 0.1]", count.end() + 1));
            all.extend(count.start().checked_sub(1).map(|fewer| list("[0.5, 0.5, 0.1]", fewer)));
            all
        }
        Rule::Texts { count, longest } => {
            let mut all = text(&["3", "some", "[1]", "[[\"a\"]]", "true"]);
            all.push(list("\"a\"", count.end() + 1));
            all.push(format!("[{:?}]", "a".repeat(longest + 1)));
            all
        }
        Rule::Text(longest) => vec!["3".into(), "[]".into(), format!("{:?}", "a".repeat(longest + 1))],
        Rule::Section(_) => text(&["3", "[]", "nan", "some"]),
    }
}

#[test]
fn what_is_not_allowed_is_refused_by_name() {
    for config in presets() {
        let sections = Registry::builtin().settings(&config).expect("a table");
        let sections = sections.into_iter().map(|section| (section.key.to_owned(), section));
        for (key, Setting { rule, .. }) in all_keys(&config).into_iter().chain(sections).filter(|(key, _)| key != "policy.kind") {
            for value in wrong(&rule) {
                let text = complaint(&config, &[&format!("{key}={value}")]);
                assert!(text.starts_with(&format!("{key} cannot be ")), "{key}={value}: {text}");
                assert!(text.ends_with(&format!("it must be {}", rule.expected())), "{key}={value}: {text}");
            }
        }
        for value in ["mlp", "3", "nan", "[]", ""] {
            let text = complaint(&config, &[&format!("policy.kind={value}")]);
            assert!(
                text.starts_with("policy.kind cannot be ")
                    && text.contains("deeponet, recurrent, centralised, pi, state_feedback, uncontrolled"),
                "{text}"
            );
            assert!(text.contains(value), "{text}");
        }
    }
}

/// Each is allowed separately; together they make no sense.
#[test]
fn settings_that_do_not_fit_together_are_refused() {
    for (problem, change, words) in [
        ("heat1d", "observe.window=1.5", "observe.window cannot be 1.5"),
        ("heat2d", "physics.length=0.1", "at most the length of the domain, 0.1"),
        ("ks1d", "physics.nodes=100", "a multiple of 16"),
        ("ks2d", "data.nodes=128", "up to physics.nodes"),
        ("turbulence2d", "data.settle=1e6", "a hundred million ticks"),
        ("density2d", "physics.margin=0.6", "at most 0.5"),
        ("density2d", "swarm.start_margin=0.46", "at most 0.45"),
    ] {
        let config = Registry::builtin().config(problem, Preset::Tuned, &Overlay::default()).expect("a preset");
        let text = complaint(&config, &[change, "physics.dt=1e-3"][..if problem == "turbulence2d" { 2 } else { 1 }]);
        assert!(text.contains(words), "{problem} {change}: {text}");
    }
}

#[test]
fn unknown_keys_are_answered_with_the_nearest() {
    let heat = presets().next().expect("heat1d");
    for (key, hint) in [
        ("train.updtes", "did you mean train.updates?"),
        ("swarm.agent", "did you mean swarm.agents?"),
        ("swam.agents", "did you mean swarm.agents?"),
        ("observe.windows", "did you mean observe.window?"),
        ("physics.viscosity", "choose one of: physics.nodes, physics.length, physics.nu, physics.dt, physics.ticks"),
        ("swarm.safety", "choose one of: swarm.agents"),
        ("nothing.of.that.kind", "policy.…, train.…"),
        ("train.batch.size", "choose one of: train.batch"),
        ("problem", "policy.…, train.…"),
        ("", "policy.…, train.…"),
        (".", "policy.…, train.…"),
    ] {
        let text = complaint(&heat, &[&format!("{key}=1")]);
        assert!(text.contains(&format!("there is no setting {key:?}")) && text.contains(hint), "{text}");
    }
    for (name, hint) in [("heat1", "did you mean heat1d?"), ("KS", "heat1d, fkpp1d"), ("", "heat1d, fkpp1d")] {
        let text = Registry::builtin().config(name, Preset::Tuned, &Overlay::default()).expect_err("no such problem").to_string();
        assert!(text.contains(&format!("{name:?}")) && text.contains(hint), "{text}");
    }
    let text = complaint(&heat, &["nonsense"]);
    assert!(text.contains("key=value"), "{text}");
}

/// A table given for a section sets the keys it has, and is refused for a value.
#[test]
fn tables_are_values_for_their_keys() {
    let heat = presets().next().expect("heat1d");
    let changed = change(&heat, &["train={batch = 3, clip = 2}", "train={}", "train.updates=7"]).expect("changes");
    let number = |key: &str| changed.get(key).map(ToString::to_string);
    assert_eq!(["train.batch", "train.clip", "train.updates"].map(|key| number(key).expect("a value")), ["3", "2.0", "7"]);
    for changes in [&["train.batch={a = 1}"][..], &["train={batch = 0}"], &["policy={kind = \"mlp\"}"], &["train={a = {b = 1}}"]]
    {
        complaint(&heat, changes);
    }
}

#[test]
fn another_kind_of_policy_brings_its_own_settings() {
    let heat = presets().next().expect("heat1d");
    let idle = change(&heat, &["policy.kind=uncontrolled"]).expect("a configuration");
    assert_eq!(idle.get("policy").map(ToString::to_string).as_deref(), Some("{ kind = \"uncontrolled\" }"));
    assert_eq!(all_keys(&idle).iter().filter(|(key, _)| key.starts_with("policy.")).count(), 1);
    let text = complaint(&idle, &["policy.head=7"]);
    assert!(text.contains("there is no setting \"policy.head\""), "{text}");
    // In any order, a change applies to the new policy's settings.
    for changes in [["policy.head=7", "policy.kind=deeponet"], ["policy.kind=deeponet", "policy.head=7"]] {
        let policy: DeepONet = change(&idle, &changes).expect("a configuration").section("policy");
        assert_eq!(policy, DeepONet { head: 7, ..DeepONet::preset() });
    }
    // The same kind again keeps earlier changes.
    let wide = change(&heat, &["policy.head=48"]).expect("a configuration");
    assert_eq!(change(&wide, &["policy.kind=recurrent"]).expect("a configuration"), wide);
    assert_eq!(Registry::builtin().read(&idle.to_toml(), "a test").expect("a configuration"), idle);
}

cinoc::settings! {
    /// Zero control.
    pub struct Lazy {
        /// A count.
        times: usize = 1..=9,
    }
}

impl PolicyDefinition for Lazy {
    const NAME: &'static str = "lazy";
    const ABOUT: &'static str = "Zero control, with a setting.";

    fn preset() -> Self {
        Self { times: 3 }
    }

    fn build(&self, plant: &Plant) -> Result<Box<dyn Policy>, Error> {
        Ok(Box::new(ZeroControl { action_width: plant.action_width }))
    }
}

#[test]
fn a_policy_of_another_crate_is_one_of_all() {
    let registry = Registry::builtin().policy::<Lazy>();
    let changes = Overlay::from_pairs(["policy.kind=lazy", "policy.times=5"]).expect("changes");
    for name in names() {
        let config = registry.config(name, Preset::Tuned, &changes).expect("a configuration");
        assert_eq!(config.section::<Lazy>("policy").times, 5);
        assert!(registry.parts(&config).expect("parts").policy.shapes().is_empty());
        let text = registry.change(&config, &Overlay::from_pairs(["policy.times=10"]).expect("a change")).expect_err("too many");
        assert!(text.to_string().contains("policy.times cannot be 10; it must be a whole number from 1 to 9"), "{text}");
        assert!(Registry::builtin().read(&config.to_toml(), "a test").is_err(), "other registries do not have it");
    }
}

#[test]
fn errors_of_toml_name_the_line() {
    for (text, line) in [
        ("problem = = 1\n", 1),
        ("problem = \"heat1d\"\n[train]\nbatch = = 3\n", 3),
        ("[train]\nbatch = 3\nbatch = 4\n", 3),
        ("\n\n\n[train\n", 4),
        ("a = \"open\nb = 1\n", 1),
    ] {
        let place = format!("my.toml, line {line},");
        for error in [Overlay::from_toml(text, "my.toml").err(), Registry::builtin().read(text, "my.toml").err()] {
            let error = error.expect("it is not TOML").to_string();
            assert!(error.contains(&place) && error.contains("correct it and try again"), "{text:?}: {error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }
}

#[test]
fn a_stored_configuration_is_read_as_it_was() {
    let registry = Registry::builtin();
    for config in presets() {
        let small = change(&config, &["train.rate=1.2345678901234567e-9", "train.clip=3"]).expect("a configuration");
        for config in [config, small] {
            let text = config.to_toml();
            let read = registry.read(&text, "a test").unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((&read, read.to_toml()), (&config, text));
            assert_eq!(read.difference(&config), None);
        }
    }
    // A whole number for a floating-point setting.
    let text = presets().next().expect("heat1d").to_toml().replace("\nnu = 0.2\n", "\nnu = 1\n");
    let read = registry.read(&text, "a test").unwrap_or_else(|error| panic!("{error}"));
    assert!(registry.parts(&read).is_ok());
}

#[test]
fn a_stored_configuration_has_every_key_and_no_other() {
    let registry = Registry::builtin();
    let refused =
        |text: &str| registry.read(text, "a test").err().unwrap_or_else(|| panic!("it should be refused:\n{text}")).to_string();
    for config in presets() {
        let (whole, keys) = (config.to_toml(), all_keys(&config));
        let lines: Vec<&str> = whole.lines().collect();
        let mut section = "";
        for (i, line) in lines.iter().enumerate() {
            let others = |put: &str| [&lines[..i], &[put], &lines[i + 1..]].concat().join("\n");
            if let Some(name) = line.strip_prefix('[') {
                section = name.trim_end_matches(']');
                let text = refused(&others(&format!("{line}\nnonsense = 1")));
                assert!(text.contains(&format!("there is no setting \"{section}.nonsense\"")), "{text}");
                refused(&others(&format!("[{section}s]")));
                continue;
            }
            let Some((key, _)) = line.split_once(" = ") else { continue };
            let whole_key = format!("{section}.{key}");
            let absent = keys.iter().find(|(key, _)| *key == whole_key).and_then(|(_, setting)| setting.absent.clone());
            match (section, absent) {
                // A setting that was added later has its earlier meaning if absent.
                (_, Some(absent)) => {
                    let read = registry.read(&others(""), "a test").unwrap_or_else(|error| panic!("{error}"));
                    assert_eq!(read.get(&whole_key), Some(&absent));
                }
                ("", _) => assert!(refused(&others("")).contains("names no problem")),
                _ => assert!(refused(&others("")).starts_with(&format!("{whole_key} cannot be "))),
            }
            // A value that is never allowed.
            let text = refused(&others(&format!("{key} = nan")));
            assert!(section.is_empty() || text.starts_with(&format!("{section}.{key} cannot be ")), "{text}");
        }
        let text = refused(&format!("nonsense = 1\n{whole}"));
        assert!(text.contains("there is no setting \"nonsense\""), "{text}");
        let text = refused(&whole.replace(&format!("{:?}", config.problem()), "\"heat9d\""));
        assert!(text.contains("there is no problem \"heat9d\""), "{text}");
    }
}

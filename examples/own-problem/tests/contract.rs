//! The contract of the policy, which is recorded once and replayed, and the guide that quotes this crate.

use cinoc::env::assert_replayable;
use cinoc::internal::random::Stream;
use cinoc::prelude::*;
use cinoc::settings::Overlay;

#[test]
fn the_policy_is_what_it_declares() {
    let registry = own_problem::registry();
    for problem in ["phases", "heat1d", "density2d"] {
        let changes = Overlay::from_pairs(["policy.kind=linear-integral"]).expect("a pair");
        let config = registry.config(problem, Preset::Tuned, &changes).expect("settings");
        let parts = registry.parts(&config).expect("a problem and a policy");
        let params = parts.policy.init(&mut Rng::new(0, Stream::Init, 0));
        assert_replayable(&parts.problem, &*parts.policy, &params);
    }
}

fn text(path: &str) -> String {
    std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).expect("a file")
}

const SOURCES: [&str; 5] = ["main", "lib", "task", "policy", "problem"];

#[test]
fn the_whole_crate_has_under_200_lines() {
    let all = SOURCES.map(|name| text(&format!("src/{name}.rs")).lines().count());
    assert!(all.iter().sum::<usize>() < 200, "{all:?}");
}

#[test]
fn the_walk_through_quotes_what_is_there() {
    let sources = SOURCES.map(|name| text(&format!("src/{name}.rs"))).concat() + &text("tests/contract.rs");
    let guide = text("../../docs/guide/extending.md");
    let quotes: Vec<&str> = guide.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(quotes.len() > 8);
    quotes.iter().for_each(|quote| assert!(sources.contains(quote), "no file has:\n{quote}"));
}

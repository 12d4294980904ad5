//! What is recorded once is replayed for the other ticks: the policy says everything that differs between them.

use cinoc::env::assert_replayable;
use cinoc::prelude::*;
use cinoc::random::Stream;
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

#[test]
fn the_whole_crate_fits_on_four_pages() {
    let lines =
        |name| std::fs::read_to_string(format!("{}/src/{name}.rs", env!("CARGO_MANIFEST_DIR"))).expect("a file").lines().count();
    let all = ["main", "lib", "equation", "task", "policy", "problem"].map(lines);
    assert!(all.iter().sum::<usize>() < 200, "{all:?}");
}

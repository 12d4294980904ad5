//! Growth rates predicted by linear stability analysis beside those measured in runs: a JSON line per swarm.
//!
//! `cargo run -p cinoc-double-tests --release --example stability -- ks1d spacing 2.75 3.2 > pairs.jsonl`
//! `cargo run -p cinoc-double-tests --release --example stability -- heat1d agents 8 16 policy.output_gain=2`

use cinoc::internal::library;
use cinoc::settings::Overlay;
use cinoc::{Error, Registry};
use cinoc_lab::stability::{self, Growth, Ring};
use serde_json::json;

/// Ticks of the longest runs, on a line and in the plane.
const TICKS: [usize; 2] = [5000, 1000];

/// Tolerance of agreement per unit of time; beyond, a twentieth. The signs of both must agree.
const CLOSE: f64 = 0.01;

fn main() -> Result<(), Error> {
    let registry = Registry::builtin();
    let mut args = std::env::args().skip(1).collect::<Vec<_>>();
    if args.is_empty() {
        // A default for a call without arguments.
        eprintln!("stability PROBLEM spacing|agents NUMBER… [KEY=VALUE…]; here: ks1d spacing 2.75");
        args = ["ks1d", "spacing", "2.75"].map(String::from).to_vec();
    }
    let [problem, by, rest @ ..] = &args[..] else {
        return Err(Error::bad("the arguments", args.join(" "), "PROBLEM, then spacing or agents, then numbers and key=value"));
    };
    let (changes, numbers): (Vec<_>, Vec<_>) = rest.iter().partition(|word| word.contains('='));
    let model = library::find(&registry, problem)?.with(&registry, &Overlay::from_pairs(&changes)?)?;
    for number in numbers {
        let mut config = model.config.clone();
        let number: f64 = number.parse().map_err(|_| Error::bad("a swarm", &**number, "a number"))?;
        let (found, predicted, agents) = if by == "spacing" {
            let ring = Ring::choose(&registry, &config, number)?;
            let found = stability::lattice(&registry, &config, &model.params, number)?;
            config = ring.config(&registry, &config)?;
            let predicted = found.ring(ring.length)?;
            (found, predicted, ring.agents)
        } else {
            let parts = registry.parts(&config)?;
            let found = stability::whole(&parts.problem, &*parts.policy, &model.params, number as usize)?;
            let predicted = found.moving.map_or(found.growth, |all| Growth { all, slow: all });
            (found, predicted, number as usize)
        };
        let parts = registry.parts(&config)?;
        let ticks = TICKS[parts.problem.swarm.dimensions() - 1];
        let rest = stability::Rest::of(&parts.problem, &*parts.policy, &model.params, agents)?;
        let seen = stability::simulate(registry.build(&config)?, &*parts.policy, &model.params, &rest, ticks)?;
        let close = |a: f64, b: f64| (a - b).abs() < CLOSE.max(0.05 * a.abs());
        let line = json!({
            "problem": problem, "settings": changes, "agents": agents, "spacing": found.spacing, "node_spacing": found.node_spacing,
            "cell": [found.cell_nodes, found.agents_per_cell], "predicted": predicted.slow, "simulated": seen.slow,
            "predicted_all": predicted.all, "simulated_all": seen.all, "growth": found.growth.all, "growth_slow": found.growth.slow,
            "moving": found.moving, "still": found.still, "phase": found.phase, "uncontrolled": found.uncontrolled, "offset": found.offset, "far": found.far,
            "agree": found.still && close(predicted.slow, seen.slow) && (predicted.all < 0.0) == (seen.all < 0.0),
        });
        println!("{line}");
    }
    Ok(())
}

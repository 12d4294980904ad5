//! Policies that cannot be exported are refused with a reason.

use cinoc::export::{Program, c};
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::sense::Observation;
use cinoc::policy::{Context, Decision, Policy};
use cinoc::problem::Preset;
use cinoc::settings::Overlay;
use cinoc::{Real, Registry};
use cinoc_tape::{Cotangents, Inputs, Leaves, Op, Params, Shape};
use std::sync::Arc;

/// An operation without a plain form.
struct Mystery;

impl Op for Mystery {
    fn name(&self) -> &'static str {
        "mystery"
    }

    fn shape(&self, x: &[Shape]) -> Shape {
        x[0].with_last(2)
    }

    fn forward(&self, _: &Inputs, y: &mut [Real], _: &mut [Real], _: &mut [Real]) {
        y.fill(0.0);
    }

    fn vjp(&self, _: &Inputs, _: &[Real], _: &[Real], _: &[Real], _: &mut Cotangents, _: &mut [Real]) {}
}

struct Mysterious;

impl Policy for Mysterious {
    fn shapes(&self) -> Vec<(String, Shape)> {
        Vec::new()
    }

    fn act<'t>(&self, _: &Leaves<'t>, seen: &Observation<'t>, _: &Context<'t>) -> Decision<'t> {
        seen.patch().apply(&Arc::new(Mystery)).into()
    }
}

#[test]
fn an_unknown_operation_is_named() {
    let registry = Registry::builtin();
    let problem = registry.build(&registry.config("heat1d", Preset::Tuned, &Overlay::default()).unwrap()).unwrap();
    let program = Program::record(&problem, &Mysterious, &Params::default(), true).unwrap();
    let text = c::translate(&program, &problem, "mysterious", "").expect_err("it is refused").to_string();
    assert!(text.contains("its operation \"mystery\"") && text.ends_with("plain operations"), "{text}");
}

#[test]
fn a_policy_of_all_agents_stays() {
    let registry = Registry::builtin();
    let changes = Overlay::from_pairs(["policy.kind=centralised"]).unwrap();
    let parts = registry.parts(&registry.config("heat1d", Preset::Paper, &changes).unwrap()).unwrap();
    let params = parts.policy.init(&mut Rng::new(0, Stream::Init, 0));
    let text = Program::record(&parts.problem, &*parts.policy, &params, true).err().expect("it is refused").to_string();
    assert!(text.contains("export a policy of which each agent runs its own copy"), "{text}");
}

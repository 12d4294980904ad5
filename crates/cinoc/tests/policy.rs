//! Networks and their settings.

use cinoc::Error;
use cinoc::internal::random::{Rng, Stream};
use cinoc::internal::sense::{Features, Patch};
use cinoc::policy::{DeepONet, Plant, PolicyDefinition};

const IMAGE: Features = Features {
    patch: Patch::Image { height: 12, width: 12, channels: 3 },
    shared: false,
    position: 16,
    signal: 0,
    signal_from: 0,
    ages: 0,
    roughness: false,
};

fn settings(branch: &[usize], convolutions: &[usize]) -> DeepONet {
    DeepONet { branch: branch.to_vec(), convolutions: convolutions.to_vec(), head: 64, ..DeepONet::default() }
}

#[test]
fn a_branch_on_images() {
    let policy = settings(&[32], &[16, 32]).build(&Plant::new(IMAGE, 3)).expect("a policy");
    let params = policy.init(&mut Rng::new(0, Stream::Init, 0));
    let names: Vec<&str> = params.iter().map(|(name, ..)| name).collect();
    let layers = ["conv0", "conv1", "branch", "trunk0", "trunk1", "head", "out"];
    let expected: Vec<String> = layers.iter().flat_map(|n| [format!("{n}.w"), format!("{n}.b")]).collect();
    assert_eq!(names, expected);
    let conv = (27 * 16 + 16) + (144 * 32 + 32) + (144 * 32 * 32 + 32);
    let rest = (16 * 32 + 32) + (32 * 32 + 32) + (64 * 64 + 64) + (64 * 3 + 3);
    assert_eq!(params.count(), conv + rest);
    let products = 144 * 27 * 16 + 144 * 144 * 32 + 144 * 32 * 32 + 16 * 32 + 32 * 32 + 64 * 64 + 64 * 3;
    assert_eq!(policy.flops(5), 5 * 2 * products);
    // Variance 1/fan-in.
    let (_, _, w) = params.iter().nth(2).expect("conv1.w");
    let variance = w.iter().map(|w| *w as f64 * *w as f64).sum::<f64>() / w.len() as f64;
    assert!((variance * 144.0 - 1.0).abs() < 0.1, "{variance}");
}

#[test]
fn strides_make_the_branch_smaller() {
    let field = Features {
        patch: Patch::Image { height: 64, width: 80, channels: 3 },
        shared: true,
        position: 26,
        signal: 0,
        signal_from: 0,
        ages: 0,
        roughness: false,
    };
    let config = DeepONet { stride: 2, ..settings(&[64], &[16, 32]) };
    let policy = config.build(&Plant::new(field, 2)).expect("a policy");
    let params = policy.init(&mut Rng::new(0, Stream::Init, 0));
    let (_, shape, _) = params.iter().nth(4).expect("branch.w");
    assert_eq!(shape.sizes(), [16 * 20 * 32, 64]);
    // One observation for all agents of an instance.
    let branch = 32 * 40 * 27 * 16 + 16 * 20 * 144 * 32 + 16 * 20 * 32 * 64;
    let rest = 26 * 32 + 32 * 32 + 96 * 64 + 64 * 2;
    assert_eq!(policy.flops(9), 2 * (branch + 9 * rest));
}

#[test]
fn an_image_without_convolutions_is_a_list_of_numbers() {
    let params = settings(&[64, 64], &[]).build(&Plant::new(IMAGE, 3)).expect("a policy").init(&mut Rng::new(0, Stream::Init, 0));
    assert_eq!(params.iter().next().expect("branch0.w").1.sizes(), [432, 64]);
}

#[test]
fn impossible_branches_are_refused() {
    let line =
        Features { patch: Patch::Line(40), shared: false, position: 8, signal: 0, signal_from: 0, ages: 0, roughness: false };
    for (config, features, key, expected) in [
        (settings(&[32], &[16]), IMAGE, "policy.convolutions", "[16, 32]"),
        (settings(&[64, 64], &[16, 32]), IMAGE, "policy.branch", "[32]"),
        (settings(&[32], &[16, 32]), line, "policy.convolutions", "do not see images"),
    ] {
        match config.build(&Plant::new(features, 2)).err() {
            Some(Error::BadValue { key: found, expected: says, .. }) => {
                assert!(found == key && says.contains(expected), "{says}")
            }
            other => panic!("{other:?}"),
        }
    }
}

//! Settings that used to panic, hang or exhaust memory, and extreme ones that are allowed.

use crate::configs::{BUILD, Counts, sentence, try_out};
use crate::watch::Watch;
use cinoc::problem::Preset;
use cinoc::settings::Overlay;
use cinoc::{Error, Registry};

fn refused(problem: &str, pairs: &str) -> Result<(), String> {
    let registry = Registry::builtin();
    let built = |pairs: &str| -> Result<(), Error> {
        let overlay = Overlay::from_pairs(pairs.split_whitespace())?;
        registry.parts(&registry.config(problem, Preset::Tuned, &overlay)?).map(drop)
    };
    match built(pairs) {
        Ok(()) => Err("accepted".into()),
        Err(error) => sentence(&error),
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut watch = Watch::new("refused settings");
    for (problem, pairs) in [
        ("heat1d", "physics.nodes=3"),
        ("heat1d", "physics.nodes=100000"),
        ("heat1d", "data.start_length=0"),
        ("heat1d", "data.start_length=-1"),
        ("heat1d", "data.target_length=0"),
        ("heat2d", "data.target_length=nan"),
        ("heat1d", "physics.length=1e300"),
        ("heat1d", "physics.length=5e-324"),
        ("heat1d", "physics.nodes=2048 data.start_length=1e-3"),
        ("heat2d", "physics.nodes=513 data.target_length=1e-3"),
        ("heat1d", "train.strength=[0.5,inf]"),
        ("heat1d", "train.strength=[nan,nan]"),
        ("heat1d", "train.strength=[2.0,1.0]"),
        ("heat1d", "problem=ks1d"),
        ("heat1d", "swarm.start_margin=1e38"),
        ("heat1d", "swarm.start_margin=5"),
        ("heat1d", "observe.window=1e10"),
        ("heat1d", "policy.head=9223372036854775807"),
        ("heat1d", "policy.trunk=[1000000,1000000]"),
        ("heat1d", "policy.trunk=[65536,65536]"),
        ("heat1d", "policy.kind=nonsense"),
        ("heat1d", "policy.kind=uncontrolled policy.head=4"),
        ("heat1d", "cost.effort=-1"),
        ("heat1d", "train.dropout=2"),
        ("heat1d", "train.rate_start=-1"),
        ("heat1d", "train.updates=99999999999"),
        ("heat1d", "swarm.agents=18446744073709551615"),
        ("heat1d", "physics.nodes={}"),
        ("heat1d", "physics={nodes=3}"),
        ("heat1d", "nonsense={}"),
        ("heat1d", "=1"),
        ("heat1d", ".=1"),
        ("heat1d", "physics.=1"),
        ("heat1d", "physics..nodes=1"),
        ("heat1d", "physics.nodes.nodes=1"),
        ("heat1d", "physics"),
        ("ks1d", "physics.nodes=100"),
        ("ks1d", "physics.dt=1e-6 data.settle=1e6"),
        ("ks2d", "physics.nodes=1e20"),
        ("ks2d", "physics.nodes=8192"),
        ("ks2d", "data.nodes=128"),
        ("turbulence2d", "observe.window=3.5e38"),
        ("density2d", "physics.margin=0.6"),
        ("density2d", "swarm.start_margin=0.5"),
        ("density2d", "data.sigma=[0.0,0.1]"),
        ("heat2d", "physics.nodes=8192"),
        ("heat2d_obstacles", "obstacles.discs=[]"),
        ("heat2d_obstacles", "obstacles.discs=[[0.5,0.5,0.0]]"),
        ("heat2d_obstacles", "obstacles.discs=[[0.01,0.5,0.1]]"),
        ("heat2d_obstacles", "obstacles.discs=[[0.5,0.5,nan]]"),
    ] {
        watch.case(&format!("{problem} {pairs}"), BUILD, || refused(problem, pairs));
    }
    watch.end(47);
}

/// Extreme but allowed: finite, or diverged.
#[test]
fn what_is_extreme_is_tried_out() {
    let registry = Registry::builtin();
    let mut watch = Watch::new("extreme settings");
    let lines = [
        "physics.nodes=5",
        "physics.nodes=2048 train.batch=1",
        "physics.nodes=2048 data.start_length=7e-3 data.target_length=7e-3",
        "physics.nodes=384 data.start_length=1e-3 data.target_length=4e-3",
        "physics.length=1e-3 observe.window=1e-3",
        "physics.length=1e3 observe.window=1e3",
        "physics.length=1e3 observe.window=1e-6",
        "physics.nu=1e6 physics.dt=1e3",
        "physics.nu=1e-9 physics.dt=1e-9",
        "observe.points=64 observe.window=1e-6",
        "observe.points=2 observe.window=1",
        "observe.gain=1e6",
        "swarm.sigma=1e-6",
        "swarm.sigma=1e6",
        "swarm.sigma=1e-6 swarm.kernel=unit-mass",
        "swarm.agents=1",
        "swarm.agents=1000 physics.nodes=5",
        "swarm.agents=1000 physics.nodes=5 swarm.crowd=1e-3 swarm.crowd_width=1e3",
        "swarm.agents=1000 swarm.crowd=1e6 swarm.crowd_width=1e-3 swarm.sigma=1e-6",
        "swarm.agents=1100 cost.radius=1e3 swarm.sigma=1e-6",
        "swarm.u_limit=1e9 swarm.v_limit=1e9 policy.output_scale=1e3",
        "swarm.u_limit=1e-9 swarm.v_limit=1e-9",
        "swarm.start_margin=0.5 swarm.start_margin_other=0.5",
        "policy.output_scale=0 cost.track=0 cost.effort=0 cost.bound=0 cost.collide=0 cost.accel=0",
        "cost.track=1e9 cost.effort=1e9 cost.radius=1e-9",
        "train.rate=10 train.clip=1e9",
        "train.strength=[1e-3,1e3] train.dropout=1",
        "train.start_jitter=1e6",
        "train.segment=1000000 physics.ticks=2",
        "train.shard=65536 train.memory_mb=1",
        "train.average=0.999999 train.warmup=100000000 train.half_life=1e-3",
        "policy.kind=uncontrolled",
        "policy={kind=\"uncontrolled\"}",
        "physics={} physics.nodes=50 policy={} policy.head=8 train={rate=0.1}",
    ];
    let planes = [
        "physics.nodes=4 observe.window=0.1",
        "swarm.agents=1000 physics.nodes=4",
        "swarm.agents=1 physics.nodes=16",
        "swarm.sigma=1e6 swarm.crowd=1e-3 swarm.crowd_width=1e3 physics.nodes=16",
        "swarm.sigma=1e-6 swarm.crowd_width=1e-3 physics.nodes=16",
        "observe.points=64 observe.window=1e-6 physics.nodes=16",
        "physics.dt=1e3 physics.nodes=16",
        "physics.dt=10 physics.nodes=16 swarm.u_limit=1e9",
        "physics.length=1e-3 physics.nodes=16 observe.window=1e-3",
        "physics.length=1e3 physics.nodes=16 observe.window=1e3",
    ];
    let others = [
        ("heat2d_obstacles", "obstacles.discs=[[0.0,0.0,1e3]] obstacles.safety=false physics.nodes=16"),
        ("heat2d_obstacles", "obstacles.discs=[[-1e3,1e3,1e-300]] obstacles.safety=false physics.nodes=16"),
        ("heat2d_obstacles", "obstacles.discs=[[0.5,0.5,0.4]] obstacles.clearance=0.1 physics.nodes=16 swarm.v_limit=1e-3"),
        ("heat2d_obstacles", "obstacles.discs=[[0.5,0.5,0.5]] obstacles.clearance=0 physics.nodes=16 swarm.agents=500"),
        ("density2d", "physics.nodes_x=4 physics.nodes_y=200"),
        ("density2d", "physics.margin=0.5 physics.nodes_x=16 physics.nodes_y=16"),
        (
            "density2d",
            "physics.length_x=1e-3 physics.length_y=1e-3 observe.window=1e-3 physics.margin=0 swarm.start_margin=0 physics.nodes_x=16 physics.nodes_y=16",
        ),
        ("density2d", "data.sigma=[1e-3,1e-3] data.start=[1e3,1e3] physics.nodes_x=16 physics.nodes_y=16"),
        ("density2d", "data.amplitude=[1e6,1e6] physics.gain=1e6 swarm.v_limit=1e9 physics.nodes_x=16 physics.nodes_y=16"),
        ("density2d", "physics.drift=-1e3 physics.motion=1e6 physics.nodes_x=16 physics.nodes_y=16"),
        ("ks1d", "data.per_run=100000 physics.nodes=32 data.settle=1 data.apart=0.05 data.train_states=4"),
        ("ks1d", "physics.nodes=16 physics.dt=10 data.settle=100 data.apart=10"),
        ("ks1d", "physics.nodes=65536 data.train_states=1 data.test_states=1 data.validation_states=1 data.settle=0"),
        ("ks2d", "physics.nodes=16 physics.dt=10 physics.substeps=1 data.settle=100 data.apart=10 data.train_states=2"),
        ("turbulence2d", "physics.nodes=16 physics.dt=10 physics.substeps=0 data.settle=10 data.train_states=2"),
    ];
    let line = ["heat1d", "fkpp1d"].into_iter().flat_map(|problem| lines.map(|pairs| (problem, pairs)));
    let plane = ["heat2d", "heat2d_obstacles", "ks2d", "turbulence2d"]
        .into_iter()
        .flat_map(|problem| planes.map(|pairs| (problem, pairs)));
    let few = ["physics.ticks=3", "train.batch=2", "train.validate_instances=1"];
    for (problem, pairs) in line.chain(plane).chain(others) {
        watch.case(&format!("{problem} {pairs}"), BUILD, || {
            let overlay =
                Overlay::from_pairs(few.into_iter().chain(pairs.split_whitespace())).map_err(|error| error.to_string())?;
            match registry.config(problem, Preset::Paper, &overlay) {
                Ok(config) => try_out(&registry, &config, &Counts::default()),
                Err(error) => sentence(&error),
            }
        });
    }
    watch.end(115);
}

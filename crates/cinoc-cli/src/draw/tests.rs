//! Every format is written for every kind of episode, and mistakes are explained.

use super::*;
use std::path::PathBuf;

const TICKS: usize = 6;

fn line() -> Episode1d {
    let wave = |phase: f32| (0..16).map(|k| (k as f32 * 0.4 + phase).sin()).collect::<Vec<f32>>();
    Episode1d {
        title: "test ξ < 1 & more".to_string(),
        measure: PlotLabels::ENERGY,
        length: 1.0,
        clock: Clock { tick: 0.1, before: 2, scored: Some(5), unit: "", begins: 0.0 },
        periodic: true,
        target: wave(0.0),
        uncontrolled: vec![wave(1.0); TICKS + 1],
        controlled: (0..=TICKS).map(|t| wave(1.0 - t as f32 / TICKS as f32)).collect(),
        xi: (0..=TICKS).map(|t| vec![0.5, (0.8 + 0.1 * t as f32) % 1.0]).collect(),
        alive: (0..=TICKS).map(|t| vec![t < 3, true]).collect(),
        u: vec![vec![0.5, -1.0]; TICKS],
        v: vec![Vec::new(); TICKS],
    }
}

fn plane() -> Episode2d {
    let line = line();
    let square = |field: &Vec<f32>| -> Vec<f32> { field.iter().flat_map(|a| field[..8].iter().map(move |b| a * b)).collect() };
    Episode2d {
        title: line.title,
        measure: PlotLabels::ERROR,
        lengths: [2.0, 1.0],
        shape: [16, 8],
        depth: None,
        periodic: [false; 2],
        clock: Clock { tick: 0.1, before: 0, scored: None, unit: "", begins: 0.0 },
        target: square(&line.target),
        uncontrolled: line.uncontrolled.iter().map(square).collect(),
        controlled: line.controlled.iter().map(square).collect(),
        xi: vec![vec![[0.5, 0.5], [1.5, 0.9]]; TICKS + 1],
        alive: line.alive,
        u: line.u,
        v: vec![vec![[0.1, 0.0]; 2]; TICKS],
        obstacles: vec![vec![[1.0, 0.5, 0.2]]; TICKS + 1],
    }
}

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("cinoc-draw-{}-{name}", std::process::id()))
}

fn written(episode: &Episode, name: &str) -> Vec<u8> {
    let path = temporary(name);
    draw(episode, &path, &|_, _| {}).expect("the figure is drawn");
    let bytes = std::fs::read(&path).expect("the figure is there");
    std::fs::remove_file(&path).expect("the figure can be removed");
    bytes
}

#[test]
fn each_format_is_written() {
    let torus = Episode2d { periodic: [true; 2], measure: PlotLabels::ENSTROPHY, clock: line().clock, ..plane() };
    let deep = |field: &Vec<f32>| -> Vec<f32> { field.iter().flat_map(|z| [*z, 0.5 * z, 2.0]).collect() };
    let solid = Episode2d {
        depth: Some((3, 0.5)),
        target: deep(&plane().target),
        uncontrolled: plane().uncontrolled.iter().map(deep).collect(),
        controlled: plane().controlled.iter().map(deep).collect(),
        ..plane()
    };
    let planes = [("2d", plane()), ("torus", torus), ("3d", solid)].map(|(kind, plane)| (kind, Episode::Plane(plane)));
    for (kind, episode) in std::iter::once(("1d", Episode::Line(line()))).chain(planes) {
        let png = written(&episode, &format!("{kind}.png"));
        assert!(png.starts_with(b"\x89PNG") && png.len() > 10_000);
        let gif = written(&episode, &format!("{kind}.GIF"));
        assert!(gif.starts_with(b"GIF89a") && gif.len() > 10_000);
        let svg = written(&episode, &format!("{kind}.svg"));
        let svg = String::from_utf8(svg).expect("SVG is text");
        assert!(svg.starts_with("<svg width=\"1800\"") && svg.trim_end().ends_with("</svg>"));
        assert!(svg.contains("test ξ &lt; 1 &amp; more") && svg.contains("sans-serif"));
    }
}

fn scene(name: &str, episode: Episode) -> Scene {
    Scene { name: name.to_string(), result: "error 1.0e-3".to_string(), episode }
}

/// Three swarms on a line and three in the plane; the last one loses an agent.
fn swarms() -> [Vec<Scene>; 2] {
    let alive = vec![vec![true; 2]; TICKS + 1];
    let (healthy_line, healthy_plane) = (Episode1d { alive: alive.clone(), ..line() }, Episode2d { alive, ..plane() });
    let three = |healthy: Episode, failing: Episode| {
        vec![scene("2 agents", healthy.clone()), scene("1 agent & more", healthy), scene("2 agents, 1 fails", failing)]
    };
    [three(Episode::Line(healthy_line), Episode::Line(line())), three(Episode::Plane(healthy_plane), Episode::Plane(plane()))]
}

fn drawn_swarms(scenes: &[Scene], name: &str) -> Vec<u8> {
    let path = temporary(name);
    draw_swarms("three swarms", scenes, TICKS - 1, &path).expect("the figure is drawn");
    let bytes = std::fs::read(&path).expect("the figure is there");
    std::fs::remove_file(&path).expect("the figure can be removed");
    bytes
}

#[test]
fn swarms_are_drawn_side_by_side() {
    for (kind, scenes) in ["line", "plane"].into_iter().zip(swarms()) {
        let png = drawn_swarms(&scenes, &format!("{kind}-swarms.png"));
        assert!(png.starts_with(b"\x89PNG") && png.len() > 20_000);
        let svg = String::from_utf8(drawn_swarms(&scenes, &format!("{kind}-swarms.svg"))).expect("SVG is text");
        assert!(svg.starts_with("<svg width=\"1800\"") && svg.trim_end().ends_with("</svg>"));
        for word in
            ["three swarms", "1 agent &amp; more", "2 agents, 1 fails", "uncontrolled", "failures", "score", "error 1.0e-3"]
        {
            assert!(svg.contains(word), "the figure of a {kind} lacks {word:?}");
        }
        let failure = draw_swarms("three swarms", &scenes, TICKS, &temporary("swarms.gif")).expect_err("not a movie").to_string();
        assert!(failure.contains(".png or .svg") && failure.contains("side by side"), "{failure}");
    }
    let [lines, planes] = swarms();
    let mixed = [lines[0].clone(), planes[0].clone()];
    assert!(draw_swarms("mixed", &mixed, TICKS, &temporary("mixed.png")).is_err());
    assert!(draw_swarms("none", &[], TICKS, &temporary("empty.png")).is_err());
}

#[test]
fn failed_agents_look_otherwise() {
    let grey = format!("#{:02X}{:02X}{:02X}", colour::FAILED.0, colour::FAILED.1, colour::FAILED.2);
    for (kind, [healthy, _, failing]) in
        ["line", "plane"].into_iter().zip(swarms().map(|s| <[Scene; 3]>::try_from(s).expect("three")))
    {
        let svg = |episode: &Episode| String::from_utf8(written(episode, &format!("{kind}-failed.svg"))).expect("SVG is text");
        assert!(!svg(&healthy.episode).contains(&grey) && svg(&failing.episode).contains(&grey), "{kind}: {grey}");
        let gif = |episode: &Episode| written(episode, &format!("{kind}-failed.gif"));
        assert_ne!(gif(&healthy.episode), gif(&failing.episode), "{kind}: the movie does not show which agent failed");
    }
}

#[test]
fn wrong_extension_is_explained() {
    let failure = draw(&Episode::Line(line()), &temporary("figure.jpg"), &|_, _| {});
    let text = failure.expect_err("jpg is not possible").to_string();
    assert!(text.contains(".png") && text.contains(".svg") && text.contains(".gif"), "{text}");
}

#[test]
fn missing_folder_is_explained() {
    for name in ["a.png", "a.svg", "a.gif"] {
        let path = temporary("no-such-folder").join(name);
        let failure = draw(&Episode::Line(line()), &path, &|_, _| {}).expect_err("there is no folder");
        assert!(failure.to_string().contains(name), "{failure}");
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let mut short = line();
    short.controlled.pop();
    assert!(draw(&Episode::Line(short), &temporary("short.png"), &|_, _| {}).is_err());
    let mut ragged = line();
    ragged.xi[2].pop();
    assert!(draw(&Episode::Line(ragged), &temporary("ragged.png"), &|_, _| {}).is_err());
}

#[test]
fn diverged_fields_and_no_agents_can_be_drawn() {
    let mut broken = line();
    broken.uncontrolled[4].fill(f32::NAN);
    broken.uncontrolled[5].fill(f32::INFINITY);
    for t in 0..=TICKS {
        broken.xi[t].clear();
        broken.alive[t].clear();
    }
    broken.u.iter_mut().for_each(Vec::clear);
    for name in ["broken.png", "broken.svg", "broken.gif"] {
        written(&Episode::Line(broken.clone()), name);
    }
}

//! Helpers that compute readings: samples of a known field, gaps and crowds from the positions of neighbours.

use super::super::program::Program;
use super::{number, numbers};
use crate::Real;
use crate::sense::{Domain, Instrument, Lens, Source};

/// Returns the first result of `of` over the instruments.
fn find<'a, T>(program: &'a Program, of: impl Fn(&'a Instrument) -> Option<T>) -> Option<T> {
    program.inputs().iter().find_map(|input| of(&input.instrument))
}

fn lens(program: &Program) -> Option<&Lens> {
    find(program, |one| if let Source::Error(lens) = &one.source { Some(lens) } else { None })
}

fn gaps(program: &Program) -> Option<&Domain> {
    find(program, |one| if let Source::Gaps(domain) = &one.source { Some(domain) } else { None })
}

fn crowd(program: &Program) -> Option<Real> {
    find(program, |one| if let Source::Crowd(reach) = one.source { Some(reach) } else { None })
}

/// Returns the domain of the agents, if known.
fn domain(program: &Program) -> Option<&Domain> {
    gaps(program).or_else(|| lens(program).map(|lens| &lens.domain))
}

/// Returns true if slopes are among the readings.
fn slopes(program: &Program) -> bool {
    find(program, |one| (one.source == Source::Slope).then_some(())).is_some()
}

const SAMPLE: &str = "
void cinoc_sample(cinoc_observation *seen, const cinoc_real *position,
                  cinoc_real (*error)(const cinoc_real *at, void *context), void *context);
";

/// Declares the helper for gaps, crowds, or both.
fn neighbours(program: &Program) -> Option<(String, &'static str)> {
    let walls = gaps(program).is_some_and(|domain| !domain.is_periodic());
    let (place, comment) = if walls { ("const cinoc_real *position, ", " of an agent at a position") } else { ("", "") };
    let what = match (gaps(program).is_some(), crowd(program).is_some()) {
        (true, true) => "gap and crowd",
        (true, false) => "gap",
        (false, true) => "crowd",
        (false, false) => return None,
    };
    let axes = domain(program)?.lengths.len();
    let head = format!("void cinoc_neighbours(cinoc_observation *seen, {place}const cinoc_real (*others)[{axes}], int count)");
    let comment = format!(
        "/* Fills {what} of an observation{comment}, from vectors to the other active agents{}. */",
        if gaps(program).is_some_and(|domain| !domain.has_walls()) { ", the shorter way around" } else { "" }
    );
    Some((format!("\n{comment}\n{head}"), what))
}

/// Declares all helpers.
pub fn declarations(program: &Program) -> String {
    let comment = match slopes(program) {
        true => {
            "Fills error and slope of an observation of an agent at a position, from a function that returns z - z* anywhere in\n * the domain."
        }
        false => {
            "Fills the errors of an observation of an agent at a position, from a function that returns z - z* anywhere in the\n * domain."
        }
    };
    let sample = lens(program).map_or_else(String::new, |_| format!("\n/* {comment} */{SAMPLE}"));
    let neighbours = neighbours(program).map_or_else(String::new, |(head, _)| format!("{head};\n"));
    format!("{sample}{neighbours}")
}

/// Defines all helpers and the offsets.
pub fn definitions(program: &Program) -> String {
    let mut text = String::new();
    if let Some(lens) = lens(program) {
        let (points, axes) = (lens.offsets.len(), lens.steps.len());
        let rows = lens.offsets.iter().map(|at| format!("{{{}}}", at.iter().map(|&x| number(x)).collect::<Vec<_>>().join(", ")));
        let rows = rows.collect::<Vec<_>>().join(",\n    ");
        text += &format!("\nconst cinoc_real cinoc_offset[{points}][{axes}] = {{\n    {rows}\n}};\n");
        let sample = marked(include_str!("sample.c"), "//slope ", slopes(program));
        text += &fill(&sample, &lens.domain, &[("POINTS", points.to_string()), ("STEPS", numbers(&lens.steps))]);
    }
    if let Some((head, _)) = neighbours(program) {
        let head = head.lines().last().unwrap_or_default();
        text += &format!("\n{head}\n{{\n");
        text += if let Some(domain) = gaps(program) {
            let body = if domain.lengths.len() == 1 { include_str!("gaps_line.c") } else { include_str!("gaps_plane.c") };
            fill(body, domain, &[])
        } else {
            String::new()
        }
        .as_str();
        if let Some((reach, domain)) = crowd(program).zip(domain(program)) {
            text += &fill(include_str!("crowd.c"), domain, &[("REACH", number(reach * reach))]);
        }
        text += "}\n";
    }
    text
}

/// Returns a C template with or without the lines that begin with a mark.
fn marked(template: &str, mark: &str, with: bool) -> String {
    let lines = template.lines().filter(|line| with || !line.trim_start().starts_with(mark));
    lines.map(|line| line.replacen(mark, "", 1) + "\n").collect()
}

/// Fills the words in capitals of a C template. Lines begin with a mark that are only for domains with all axes periodic,
/// with a wall, with walls only, or with both.
fn fill(template: &str, domain: &Domain, words: &[(&str, String)]) -> String {
    let (ring, walls) = (domain.is_periodic(), domain.has_walls());
    let marks = [("//ring ", ring), ("//wall ", !ring), ("//walls ", walls), ("//both ", !ring && !walls)];
    let mut text = marks.iter().fold(template.to_owned(), |text, (mark, with)| marked(&text, mark, *with));
    let flags: Vec<_> = domain.periodic.iter().map(|periodic| if *periodic { "1" } else { "0" }).collect();
    let periodic = format!("{{{}}}", flags.join(", "));
    let own = [("AXES", domain.lengths.len().to_string()), ("LENGTHS", numbers(&domain.lengths)), ("PERIODIC", periodic)];
    for (word, value) in words.iter().chain(&own) {
        text = text.replace(&format!("@{word}@"), value);
    }
    text
}

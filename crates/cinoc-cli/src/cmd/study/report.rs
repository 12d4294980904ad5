//! Results of a study: points over policies, as a figure and as a table.

use super::table::Table;
use crate::cmd::short;
use crate::draw::{Band, BandLine, BandPoint, CardRow, draw_bands, draw_card};
use crate::out::say;
use anyhow::Result;
use cinoc::Registry;
use cinoc::internal::number;
use cinoc::internal::shown;
use cinoc_lab::study::{Case, Chart, Row, Scale, Study};
use serde::Serialize;
use std::path::Path;

/// One point of a figure: the mean over policies, and their range.
#[derive(Serialize)]
pub struct StudyPoint {
    /// The line it belongs to.
    pub line: String,
    /// Place on the horizontal axis.
    pub x: f64,
    /// Agents per instance.
    pub agents: usize,
    /// Instances that each policy was scored on.
    pub instances: usize,
    /// Number of policies.
    pub policies: usize,
    /// Mean over policies.
    #[serde(serialize_with = "number::serialize")]
    pub value: f64,
    /// The lowest.
    #[serde(serialize_with = "number::serialize")]
    pub lowest: f64,
    /// The highest.
    #[serde(serialize_with = "number::serialize")]
    pub highest: f64,
    /// Mean effort times the number of agents: lowest, mean and highest.
    #[serde(skip)]
    total: [f64; 3],
    /// Mean effort over policies.
    #[serde(serialize_with = "number::serialize")]
    pub effort: f64,
    /// 95th percentile and worst of the instances over the mean uncontrolled score: the largest over policies.
    #[serde(serialize_with = "number::serialize")]
    pub p95: f64,
    #[serde(serialize_with = "number::serialize")]
    pub worst: f64,
    /// Episodes that diverged, of all policies.
    pub diverged: usize,
}

/// The points of all lines, those of a line in order.
pub fn points(cases: &[Case], table: &Table) -> Vec<StudyPoint> {
    let mut points = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    // In the order of the cases; a case may add lines.
    let named = cases.iter().map(|case| &case.line).chain(table.rows.iter().map(|row| &row.line));
    named.for_each(|line| {
        if !lines.contains(&line.as_str()) {
            lines.push(line)
        }
    });
    for line in lines {
        let mut rows: Vec<&Row> = table.rows.iter().filter(|row| row.line == line).collect();
        rows.sort_by(|a, b| a.x.total_cmp(&b.x));
        points.extend(rows.chunk_by(|a, b| a.x == b.x).map(point));
    }
    points
}

fn point(rows: &[&Row]) -> StudyPoint {
    let spread = |value: &dyn Fn(&Row) -> f64| {
        let values = || rows.iter().map(|row| value(row));
        let mean = values().sum::<f64>() / rows.len() as f64;
        [values().fold(f64::INFINITY, f64::min), mean, values().fold(f64::NEG_INFINITY, f64::max)]
    };
    let [lowest, value, highest] = spread(&|row| row.value);
    let total = spread(&|row| row.effort * row.agents as f64);
    let (first, policies) = (rows[0], rows.len());
    let (effort, diverged) = (total[1] / first.agents as f64, rows.iter().map(|row| row.diverged).sum());
    let Row { x, agents, instances, .. } = *first;
    let [p95, worst] = [|row: &Row| row.p95, |row: &Row| row.worst].map(|of| spread(&|row| of(row) / row.uncontrolled)[2]);
    StudyPoint {
        line: first.line.clone(),
        x,
        agents,
        instances,
        policies,
        value,
        lowest,
        highest,
        total,
        effort,
        p95,
        worst,
        diverged,
    }
}

/// Draws the points.
pub fn draw(registry: &Registry, study: &Study, problem: &str, points: &[StudyPoint], path: &Path) -> Result<()> {
    if study.chart == Chart::Card {
        return card(study, problem, points, path);
    }
    let lines = |ends: &dyn Fn(&StudyPoint) -> [f64; 3]| {
        let place = |point: &StudyPoint| {
            let [low, middle, high] = ends(point).map(|x| x as f32);
            BandPoint { x: point.x as f32, low, middle, high }
        };
        let each = points.chunk_by(|a, b| a.line == b.line);
        each.map(|of| BandLine { name: of[0].line.clone(), dashed: false, points: of.iter().map(place).collect() }).collect()
    };
    let mut values: Vec<BandLine> = lines(&|point| [point.lowest, point.value, point.highest]);
    values.extend(published(registry, study, problem, points)?);
    let axis = |scale: Scale| (scale.name.to_owned(), scale.log);
    let mut bands = vec![Band { x: axis(study.x), y: axis(study.y), lines: values }];
    if study.effort {
        let y = ("agents × effort".to_owned(), true);
        bands.push(Band { x: axis(study.x), y, lines: lines(&|point| point.total) });
    }
    let policies = points.iter().map(|point| point.policies).max().unwrap_or(0);
    let band = if policies > 1 { format!(" (mean and range of {policies} policies)") } else { String::new() };
    draw_bands(&format!("{problem}, {}{band}", study.name), &bands, path)
}

/// Draws a card.
fn card(study: &Study, problem: &str, points: &[StudyPoint], path: &Path) -> Result<()> {
    let row = |point: &StudyPoint| CardRow {
        name: point.line.clone(),
        values: [point.lowest, point.value, point.highest].map(|x| x as f32),
        tail: [point.p95, point.worst].map(|x| x as f32),
    };
    let rows: Vec<CardRow> = points.iter().map(row).collect();
    let first = points.first();
    let (policies, instances) = first.map_or((0, 0), |point| (point.policies, point.instances));
    let policies = if policies > 1 { format!("mean and range of {policies} policies, ") } else { String::new() };
    draw_card(&format!("{problem}, {} ({policies}{instances} instances)", study.name), study.y.name, &rows, path)
}

/// The published curve of a study of cardinality: its percentages, relative to the value at the trained number.
fn published(registry: &Registry, study: &Study, problem: &str, points: &[StudyPoint]) -> Result<Option<BandLine>> {
    let curve = registry.sweeps_of(problem).ok().and_then(|sweeps| sweeps.published).filter(|_| study.name == "cardinality");
    let ours = points.iter().find(|point| point.x == 1.0).map(|point| point.value);
    let (Some(curve), Some(ours)) = (curve, ours) else { return Ok(None) };
    let place = |(agents, percent): &(usize, f64)| {
        let y = (ours * percent / 100.0) as f32;
        BandPoint { x: *agents as f32 / curve.trained as f32, low: y, middle: y, high: y }
    };
    let name = format!("the paper, {} = 100 %", curve.trained);
    Ok(Some(BandLine { name, dashed: true, points: curve.percent.iter().map(place).collect() }))
}

/// A line for each point.
pub fn say(study: &Study, problem: &str, points: &[StudyPoint], files: &[&Path]) -> Result<()> {
    if study.chart == Chart::Card {
        return say_card(study, problem, points, files);
    }
    let wide = points.iter().map(|point| point.line.chars().count()).max().unwrap_or(0).max(4);
    say!("{problem}, {}: {}\n", study.name, study.about)?;
    say!(
        "{:<wide$} {:>10} {:>8} {:>5} {:>10} {:>10} {:>10} {:>10}",
        "",
        "x",
        "agents",
        "n",
        "mean",
        "lowest",
        "highest",
        "effort"
    )?;
    for p in points {
        let diverged = if p.diverged > 0 { format!("  {} diverged", p.diverged) } else { String::new() };
        let (value, lowest, highest, effort) = (short(p.value), short(p.lowest), short(p.highest), short(p.effort));
        say!(
            "{:<wide$} {:>10.4} {:>8} {:>5} {value:>10} {lowest:>10} {highest:>10} {effort:>10}{diverged}",
            p.line,
            p.x,
            p.agents,
            p.instances
        )?;
    }
    say!("\nx: {}. Mean, lowest and highest over policies of: {}.", study.x.name, study.y.name)?;
    say!("Wrote {}", files.iter().map(shown).collect::<Vec<_>>().join(", "))
}

/// A line for each row of a card.
fn say_card(study: &Study, problem: &str, points: &[StudyPoint], files: &[&Path]) -> Result<()> {
    let wide = points.iter().map(|point| point.line.chars().count()).max().unwrap_or(0).max(4);
    let clean = points.first().map_or(f64::NAN, |point| point.value);
    say!("{problem}, {}: {}\n", study.name, study.about)?;
    say!("{:<wide$} {:>10} {:>10} {:>10} {:>10} {:>14}", "", "mean", "highest", "95th", "worst", "× undisturbed")?;
    for p in points {
        let diverged = if p.diverged > 0 { format!("  {} diverged", p.diverged) } else { String::new() };
        let (value, highest, p95, worst) = (short(p.value), short(p.highest), short(p.p95), short(p.worst));
        let times = if (p.value / clean).is_finite() { format!("{:.1}", p.value / clean) } else { "–".into() };
        say!("{:<wide$} {value:>10} {highest:>10} {p95:>10} {worst:>10} {times:>14}{diverged}", p.line)?;
    }
    let worse = |a: &&StudyPoint, b: &&StudyPoint| a.value.total_cmp(&b.value);
    if let Some(most) = points.iter().max_by(worse) {
        say!("\nWorst row: {}, {}.", most.line, short(most.value))?;
    }
    let (n, policies) = points.first().map_or((0, 0), |point| (point.instances, point.policies));
    say!(
        "{}: mean over {policies} policies and {n} instances each, highest of the policies; 95th percentile and worst",
        study.y.name
    )?;
    say!("of the instances, the largest over policies.")?;
    say!("Wrote {}", files.iter().map(shown).collect::<Vec<_>>().join(", "))
}

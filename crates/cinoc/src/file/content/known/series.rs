//! The time and the series of a file: functions of time with one value per instance.

use super::super::data::columns;
use super::super::draft::{ColumnText, Draft, Repeat, SeriesText};
use super::curves::{Curve, TimeCurves};
use super::{Known, Without};
use crate::{Error, Real};
use cinoc_tape::{Tape, Var};
use cinoc_text::{Axis, Expr, Kind, Node, Plan, Scope};
use std::sync::Arc;

/// Name of the time.
pub const TIME: &str = "t";

/// The time, series from tables, and series from texts, in the order of their values.
#[derive(Default)]
pub struct Series {
    names: Vec<String>,
    curves: Option<Arc<TimeCurves>>,
    texts: Option<Plan>,
}

impl Series {
    /// Reads the tables and compiles the texts, which may use the series from tables.
    pub fn new(draft: &Draft, known: &Known) -> Result<Self, Error> {
        let mut series = Self { names: vec![TIME.into()], curves: None, texts: None };
        let (mut curves, mut texts) = (Vec::new(), Vec::new());
        for (name, written) in &draft.series {
            match written {
                SeriesText::Text(text) => texts.push((name, text)),
                SeriesText::Column(column) => {
                    curves.push(curve(draft, &format!("series.{name}"), column, known)?);
                    series.names.push(name.clone());
                }
            }
        }
        if !curves.is_empty() {
            series.curves = Some(Arc::new(TimeCurves(curves)));
        }
        let mut scope = known.scope.clone();
        series.declare(draft, &mut scope)?;
        let mut exprs = Vec::new();
        for (name, text) in texts {
            let key = format!("series.{name}");
            let expr = known.parse(draft, &key, text, &scope)?;
            // Of one value, without operators.
            if known.plan(draft, &key, &[&expr], &scope, Axis::Instance)?.calls().next().is_some() {
                return Err(draft.fault(key, "operators and means are not possible here; write a text of t and constants"));
            }
            exprs.push(expr);
            series.names.push(name.clone());
        }
        if !exprs.is_empty() {
            series.texts = Some(known.plan(draft, "series", &exprs.iter().collect::<Vec<_>>(), &scope, Axis::Instance)?);
        }
        // Names that are taken are found here.
        series.declare(draft, &mut known.scope.clone())?;
        Ok(series)
    }

    /// Adds the names to a scope, as one array.
    pub fn declare(&self, draft: &Draft, scope: &mut Scope) -> Result<(), Error> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        scope.add(&names, Kind::SERIES).map_err(|error| draft.fault("series", error.to_string()))?;
        Ok(())
    }

    /// Returns true if the time or a series occurs in an expression.
    pub fn occur_in(&self, expr: &Expr) -> bool {
        self.names.iter().any(|name| mentions(expr, name))
    }

    /// Values of the array, `[batch, names]`, at the times `t`, `[batch, 1]`; zeros without a time. `known` are the
    /// first arrays of every scope.
    pub fn at<'t>(&self, known: &[Var<'t>], t: Option<Var<'t>>) -> Var<'t> {
        let Some(t) = t else { return known[0].tape().zeros([1, self.names.len()]) };
        let batch = t.shape().rows();
        let mut all = self.curves.as_ref().map_or(t, |curves| t.join(t.apply(curves)));
        if let Some(plan) = &self.texts {
            let texts = plan.record(&[known, &[all]].concat(), &Without);
            let width = texts.shape().last();
            let texts = if texts.shape().rows() == batch { texts } else { texts.repeat_rows(batch).reshape([batch, width]) };
            all = all.join(texts);
        }
        all
    }

    /// Values after `now` ticks, `[batch]`.
    pub fn after<'t>(&self, known: &[Var<'t>], now: Option<Var<'t>>, tick: f64) -> Var<'t> {
        self.at(known, now.map(|now| now.affine(tick as Real, 0.0).reshape([now.shape().count(), 1])))
    }

    /// Values at a time, as a constant.
    pub fn constant<'t>(&self, tape: &'t Tape<'t>, known: &[Var<'t>], t: f64) -> Var<'t> {
        self.at(known, Some(tape.constant([1, 1], &[t as Real])))
    }
}

/// Reads a column of a table.
fn curve(draft: &Draft, key: &str, text: &ColumnText, known: &Known) -> Result<Curve, Error> {
    let bytes = draft.data.file(&draft.place, key, &text.file)?;
    let fault = |reason: String| draft.fault(key, format!("{}: {reason}", crate::error::shortened(&text.file)));
    let wanted: Vec<&str> = std::iter::once(&text.column).chain(&text.time).map(String::as_str).collect();
    let mut found = columns(bytes, &wanted).map_err(fault)?.into_iter();
    let values = found.next().unwrap_or_default();
    let times = found.next().unwrap_or_else(|| (0..values.len()).map(|i| i as f64).collect());
    if let Some(at) = times.windows(2).position(|pair| pair[0] >= pair[1]) {
        let (time, next) = (times[at], times[at + 1]);
        return Err(fault(format!("its times must increase, but {next} comes after {time}; sort the rows")));
    }
    let period = match text.repeat {
        Repeat::Never => None,
        Repeat::After(period) => Some(period),
        Repeat::Rows => {
            let (count, length) = (times.len(), times[times.len() - 1] - times[0]);
            if count < 2 {
                return Err(fault("one row cannot repeat; add rows, or give the time of repeat".into()));
            }
            Some(length * count as f64 / (count - 1) as f64)
        }
    };
    let start = known.number(draft, &format!("{key}.start"), &text.start)? as f64;
    let scaled = |x: f64| x * text.unit;
    Ok(Curve { times: times.into_iter().map(scaled).collect(), values, start: scaled(start), period: period.map(scaled) })
}

/// Returns true if a name occurs in an expression.
pub fn mentions(expr: &Expr, name: &str) -> bool {
    match &expr.node {
        Node::Number(_) => false,
        Node::Name(found) => found == name,
        Node::Minus(a) => mentions(a, name),
        Node::Infix(_, sides) => sides.iter().any(|side| mentions(side, name)),
        Node::Call(_, all) => all.iter().any(|argument| mentions(argument, name)),
    }
}

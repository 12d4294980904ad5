//! Terms of an equation: which are implicit, and with which coefficients.

use super::draft::{Draft, FieldText};
use super::known::Known;
use crate::{Error, Real};
use cinoc_text::{Axis, Expr, Form, Scope, Term, Treatment, parse, sum, terms};

/// Implicit terms as coefficients of a linear operator, and the rest.
pub struct Sorted {
    /// `k`, `σ` and `c`; empty where there is no such term.
    pub coefficients: [Vec<Real>; 3],
    /// Largest growth rate by them.
    pub growth: f64,
    pub explicit: Option<Expr>,
    pub treatments: Vec<String>,
}

impl Sorted {
    /// Makes `backward` diffusion implicit if a term of fourth order outweighs it: `-b*lap(z) - c*lap(lap(z))` grows by
    /// `b²/4c` at most.
    fn outweigh(&mut self, backward: &[(usize, usize, Real)], explicit: &mut Vec<Term>) {
        let [k, _, fourth] = &mut self.coefficients;
        let (&[c], true) = (&fourth[..], k.len() <= 1 && !backward.is_empty()) else { return };
        let net = k.first().unwrap_or(&0.0) + backward.iter().map(|(_, _, value)| value).sum::<Real>();
        *k = vec![net];
        self.growth = (net.min(0.0).powi(2) / (4.0 * c)) as f64;
        for &(all, own, _) in backward.iter().rev() {
            explicit.remove(own);
            let said = &self.treatments[all];
            self.treatments[all] =
                said.split(": explicit").next().unwrap_or(said).to_owned() + ": implicit with the fourth order";
        }
    }
}

/// Divides the right-hand side of a field into implicit terms and the rest.
pub fn sorted(draft: &Draft, field: &FieldText, known: &Known, scope: &Scope, rhs: &Expr) -> Result<Sorted, Error> {
    let key = &format!("equations.{}", field.name);
    let label = if draft.fields.len() > 1 { format!("d{}/dt: ", field.name) } else { String::new() };
    let mut sorted = Sorted { coefficients: Default::default(), growth: 0.0, explicit: None, treatments: Vec::new() };
    // Backward diffusions: index among all terms and among the explicit ones, and their coefficient.
    let (mut explicit, mut backward): (Vec<Term>, Vec<(usize, usize, Real)>) = Default::default();
    for term in terms(rhs, &field.name) {
        let said = format!("{label}{term}");
        let Some((which, text)) = coefficient(&term) else {
            sorted.treatments.push(said.replace(": implicit", ": explicit (a map is in front of it)"));
            explicit.push(term);
            continue;
        };
        let expr = parse(&text, scope).map_err(|error| draft.fault(key, error.to_string()))?;
        let values = known.coefficient(draft, key, &expr)?;
        // Names count as positive in texts; their values decide.
        if values.iter().any(|value| *value < 0.0) {
            if let (0, [value]) = (which, &values[..]) {
                backward.push((sorted.treatments.len(), explicit.len(), *value));
            }
            sorted.treatments.push(said.replace(": implicit", ": explicit (its coefficient is negative)"));
            explicit.push(term);
            continue;
        }
        sorted.treatments.push(said.replace(": explicit backward", ": implicit"));
        let all = &mut sorted.coefficients[which];
        *all = match (all.len(), values.len()) {
            (0, _) => values,
            (1, _) => values.iter().map(|x| x + all[0]).collect(),
            (_, 1) => all.iter().map(|x| x + values[0]).collect(),
            _ => all.iter().zip(&values).map(|(a, b)| a + b).collect(),
        };
    }
    sorted.outweigh(&backward, &mut explicit);
    sorted.explicit = sum(&explicit);
    Ok(sorted)
}

/// Index of the coefficient that an implicit term adds to, and the text of what it adds; `None` for other terms.
fn coefficient(term: &Term) -> Option<(usize, String)> {
    match &term.form {
        Form::Diffusion { outside, .. } | Form::FourthOrder { outside } if outside.kind.axis == Axis::Cells => None,
        // Backward diffusion, which is explicit unless a term of fourth order outweighs it.
        Form::Diffusion { outside, inside: None } if !outside.kind.time => Some((0, outside.to_string())),
        _ if term.treatment != Treatment::Implicit => None,
        Form::Diffusion { outside, inside: None } => Some((0, outside.to_string())),
        Form::Diffusion { outside, inside: Some(inside) } => Some((0, format!("({outside})*({inside})"))),
        Form::Rate { rate } => Some((1, format!("-({rate})"))),
        Form::FourthOrder { outside } => Some((2, format!("-({outside})"))),
        _ => None,
    }
}

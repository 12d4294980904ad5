//! Plans: the pointwise programs and operator calls that compute several expressions.

use crate::error::{Error, Fault};
use crate::expr::Expr;
use crate::graph::{Graph, Id, Leaf, Operation};
use crate::kind::{Axis, Kind, Rank};
use crate::lower::Lowering;
use crate::operator::{Call, Operators};
use crate::program::{Input, Program};
use crate::scope::Scope;
use cinoc_tape::op::MAX_INPUTS;
use cinoc_tape::{Tape, Var};
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of arrays and intermediate results.
const MAX_VALUES: usize = 64;

/// Pointwise programs and operator calls that compute several expressions together.
///
/// Values that do not change during an episode have separate programs, which a tape computes once for all ticks if their
/// inputs are constants.
#[derive(Debug)]
pub struct Plan {
    /// Number of arrays of the scope.
    arrays: usize,
    steps: Vec<Step>,
    /// Value of the expressions.
    result: usize,
}

/// Array of the scope or intermediate result.
#[derive(Clone, Copy, Debug)]
struct Value {
    axis: Axis,
    slots: usize,
}

/// Part of a value.
#[derive(Clone, Copy, Debug)]
struct Part {
    value: usize,
    slot: usize,
    slots: usize,
}

/// A step; its result is the next value.
#[derive(Debug)]
enum Step {
    Program { program: Arc<Program>, inputs: Vec<usize> },
    Call { call: Call, inputs: Vec<Part> },
    Join(Vec<usize>),
}

impl Plan {
    /// A plan of expressions, parsed in this scope, with entries along an axis; values that are the same for all cells
    /// or agents are repeated.
    pub fn new(scope: &Scope, exprs: &[&Expr], axis: Axis) -> Result<Self, Error> {
        for expr in exprs {
            let fault = |what: &str, advice: &str| {
                let text = expr.to_string();
                Err(Error::new(&text, 0..text.len(), Fault::new(what, advice)))
            };
            match expr.kind {
                kind if kind.rank != Rank::Scalar => return fault("a scalar is needed here", "use dot or a component"),
                kind if kind.axis != Axis::Instance && kind.axis != axis => {
                    let needed = match axis {
                        Axis::Instance => "one value is needed here",
                        Axis::Cells => "one value per cell is needed here",
                        Axis::Agents => "one value per agent is needed here",
                    };
                    return fault(needed, "reduce it, for example by mean(…)");
                }
                _ => {}
            }
        }
        let mut lowering = Lowering::new(scope);
        let roots: Vec<_> = exprs.iter().map(|expr| lowering.scalar(expr)).collect();
        let kinds = lowering.kinds();
        let arrays: Vec<_> = scope.arrays().iter().map(|array| Value { axis: array.kind.axis, slots: array.slots }).collect();
        let mut planner =
            Planner { graph: &lowering.graph, kinds, values: arrays.clone(), steps: Vec::new(), known: HashMap::new() };
        let result = planner.plan(&roots, axis).map_err(|fault| {
            let text = exprs.iter().map(|expr| expr.to_string()).collect::<Vec<_>>().join(", ");
            Error::new(&text, 0..text.len(), fault)
        })?;
        Ok(Self { arrays: arrays.len(), steps: planner.steps, result })
    }

    /// Records the plan on the arrays of the scope, in the order of their declaration, and returns the expressions'
    /// values, one after another: `[batch, expressions·cells]` and the like. The batch is that of the inputs used.
    ///
    /// # Panics
    /// If the arrays do not have the shapes that were declared.
    pub fn record<'t>(&self, arrays: &[Var<'t>], operators: &impl Operators) -> Var<'t> {
        assert_eq!(arrays.len(), self.arrays, "a plan takes the arrays of its scope");
        let tape = arrays[0].tape();
        let mut values = [arrays[0]; MAX_VALUES];
        values[..arrays.len()].copy_from_slice(arrays);
        for (count, step) in (arrays.len()..).zip(&self.steps) {
            values[count] = match step {
                Step::Program { program, inputs } => apply(tape, program, inputs, &values),
                Step::Join(inputs) => inputs.iter().map(|i| flat(values[*i])).reduce(join).expect("values to join"),
                Step::Call { call, inputs } => {
                    let mut parts = [arrays[0]; MAX_INPUTS];
                    parts.iter_mut().zip(inputs).for_each(|(part, input)| *part = input.of(&values));
                    operators.record(tape, call, &parts[..inputs.len()])
                }
            };
        }
        flat(values[self.result])
    }

    /// Programs of the plan.
    pub fn programs(&self) -> impl Iterator<Item = &Arc<Program>> {
        self.steps.iter().filter_map(|step| match step {
            Step::Program { program, .. } => Some(program),
            _ => None,
        })
    }

    /// Operator calls of the plan.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.steps.iter().filter_map(|step| match step {
            Step::Call { call, .. } => Some(call),
            _ => None,
        })
    }
}

impl Part {
    fn of<'t>(self, values: &[Var<'t>]) -> Var<'t> {
        let all = flat(values[self.value]);
        let width = all.shape().last() / self.slots;
        if self.slots == 1 { all } else { all.columns(self.slot * width, (self.slot + 1) * width) }
    }
}

/// Values as `[batch, …]`.
fn flat(values: Var) -> Var {
    let shape = values.shape();
    let batch = if shape.sizes().len() < 2 { 1 } else { shape.sizes()[0] };
    if shape.sizes().len() == 2 { values } else { values.reshape([batch, shape.count() / batch.max(1)]) }
}

/// Values of both, one after another; shared ones are repeated.
fn join<'t>(a: Var<'t>, b: Var<'t>) -> Var<'t> {
    let batch = a.shape().rows().max(b.shape().rows());
    let [a, b] =
        [a, b].map(|x| if x.shape().rows() == batch { x } else { x.repeat_rows(batch).reshape([batch, x.shape().last()]) });
    a.join(b)
}

fn apply<'t>(tape: &'t Tape<'t>, program: &Arc<Program>, inputs: &[usize], values: &[Var<'t>]) -> Var<'t> {
    macro_rules! record {
        ($($count:literal)*) => {
            match inputs.len() {
                $($count => tape.record(program, std::array::from_fn::<_, $count, _>(|i| values[inputs[i]])),)*
                count => unreachable!("{count} inputs of a program"),
            }
        };
    }
    record!(0 1 2 3 4 5 6 7 8)
}

/// Input and first slot of each value.
type Places = HashMap<usize, (usize, usize)>;

struct Planner<'a> {
    graph: &'a Graph,
    kinds: Vec<Kind>,
    values: Vec<Value>,
    steps: Vec<Step>,
    /// Intermediate results: the value of a node, along an axis.
    known: HashMap<(Id, Axis), usize>,
}

impl Planner<'_> {
    /// Adds all steps and returns the value of the roots.
    fn plan(&mut self, roots: &[Id], axis: Axis) -> Result<usize, Fault> {
        if self.values.is_empty() {
            return Err(Fault::new("no name is declared", "declare a field or a map"));
        }
        if self.values.len() > MAX_VALUES {
            return Err(Fault::new(
                format!("more than {MAX_VALUES} arrays are declared"),
                "let names of one kind share an array",
            ));
        }
        let nodes = self.graph.nodes();
        let stored = self.stored(roots, axis);
        for id in self.graph.needed(roots, |_| false) {
            if let Operation::Call(call, operands) = &nodes[id] {
                let inputs: Result<_, _> = operands.iter().map(|operand| self.input(*operand)).collect();
                let value = self.push(Step::Call { call: call.clone(), inputs: inputs? }, self.kinds[id].axis, 1)?;
                self.known.insert((id, self.kinds[id].axis), value);
            } else if stored[id] {
                self.compute(&[id], self.kinds[id].axis)?;
            }
        }
        self.compute(roots, axis)
    }

    /// Pointwise values that another program uses: of another axis, or constant beside changing ones.
    fn stored(&self, roots: &[Id], axis: Axis) -> Vec<bool> {
        let nodes = self.graph.nodes();
        let class = |id: Id| (self.kinds[id].axis, self.kinds[id].state || self.kinds[id].time);
        let pointwise = |id: Id| !matches!(nodes[id], Operation::Number(_) | Operation::Leaf(_) | Operation::Call(..));
        let mut stored = vec![false; nodes.len()];
        for id in self.graph.needed(roots, |_| false).into_iter().filter(|id| pointwise(*id)) {
            nodes[id]
                .operands()
                .filter(|operand| pointwise(*operand))
                .for_each(|operand| stored[operand] |= class(operand) != class(id));
        }
        let moving = roots.iter().any(|root| class(*root).1);
        roots.iter().filter(|root| pointwise(**root)).for_each(|root| stored[*root] |= class(*root) != (axis, moving));
        stored
    }

    /// Value of a node as the input of an operator.
    fn input(&mut self, id: Id) -> Result<Part, Fault> {
        let axis = if self.kinds[id].axis == Axis::Agents { Axis::Agents } else { Axis::Cells };
        match self.place(id, axis) {
            Some(part) => Ok(part),
            None => Ok(Part { value: self.compute(&[id], axis)?, slot: 0, slots: 1 }),
        }
    }

    /// Adds a program for nodes and returns its value.
    fn compute(&mut self, roots: &[Id], axis: Axis) -> Result<usize, Fault> {
        if let [root] = roots
            && let Some(part) = self.place(*root, axis).filter(|part| part.slots == 1)
        {
            return Ok(part.value);
        }
        let own = |this: &Self, id: Id| this.place(id, this.kinds[id].axis);
        let needed = self.graph.needed(roots, |id| own(self, id).is_some());
        let mut used = Vec::new();
        for part in needed.iter().filter_map(|id| own(self, *id)) {
            if !used.contains(&part.value) {
                used.push(part.value);
            }
        }
        let lanes = axis != Axis::Instance;
        if lanes && !used.iter().any(|value| self.values[*value].axis == axis) {
            let Some(any) = self.values.iter().position(|value| value.axis == axis) else {
                return Err(Fault::new("the number of cells is not known", "declare a field or a map"));
            };
            used.push(any);
        }
        let (inputs, places) = self.fit(used)?;
        let (mut local, mut ids) = (Graph::default(), HashMap::new());
        for id in needed {
            let operation = match own(self, id) {
                Some(part) => {
                    let (array, first) = places[&part.value];
                    Operation::Leaf(Leaf { array, slot: first + part.slot })
                }
                None => self.graph.nodes()[id].with(|operand| ids[&operand]),
            };
            ids.insert(id, local.put(operation));
        }
        let local_roots: Vec<_> = roots.iter().map(|root| ids[root]).collect();
        let describe =
            |value: &usize| Input { slots: self.values[*value].slots, lanes: self.values[*value].axis != Axis::Instance };
        let program = Program::new(local, &local_roots, inputs.iter().map(describe).collect(), lanes);
        let value = self.push(Step::Program { program: Arc::new(program), inputs }, axis, roots.len())?;
        if let [root] = roots {
            self.known.insert((*root, axis), value);
        }
        Ok(value)
    }

    /// Place of a node that is given or was computed along an axis.
    fn place(&self, id: Id, axis: Axis) -> Option<Part> {
        match self.graph.nodes()[id] {
            Operation::Leaf(leaf) if self.values[leaf.array].axis == axis => {
                Some(Part { value: leaf.array, slot: leaf.slot, slots: self.values[leaf.array].slots })
            }
            _ => self.known.get(&(id, axis)).map(|value| Part { value: *value, slot: 0, slots: 1 }),
        }
    }

    /// Joins values if they are too many for the inputs of a program. Returns the inputs, and for each value its input
    /// and its first slot there.
    fn fit(&mut self, mut used: Vec<usize>) -> Result<(Vec<usize>, Places), Fault> {
        let rest = if used.len() > MAX_INPUTS { used.split_off(MAX_INPUTS - 2) } else { Vec::new() };
        let mut places: Places = used.iter().enumerate().map(|(i, value)| (*value, (i, 0))).collect();
        let (uniform, lanes): (Vec<_>, Vec<_>) = rest.into_iter().partition(|value| self.values[*value].axis == Axis::Instance);
        for group in [uniform, lanes].into_iter().filter(|group| !group.is_empty()) {
            let mut slots = 0;
            for value in &group {
                places.insert(*value, (used.len(), slots));
                slots += self.values[*value].slots;
            }
            let axis = self.values[group[0]].axis;
            used.push(if let [one] = group[..] { one } else { self.push(Step::Join(group), axis, slots)? });
        }
        Ok((used, places))
    }

    fn push(&mut self, step: Step, axis: Axis, slots: usize) -> Result<usize, Fault> {
        if self.values.len() == MAX_VALUES {
            return Err(Fault::new("too many operators and intermediate results", "divide the equation, or simplify it"));
        }
        self.steps.push(step);
        self.values.push(Value { axis, slots });
        Ok(self.values.len() - 1)
    }
}

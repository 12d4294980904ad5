//! A program as one C99 file: weights, the decision, helpers for sensors. It allocates nothing and includes only
//! `<math.h>`.

mod header;
mod helpers;

use super::guard::{LEAST_STRENGTH, MaskedSamples, REST};
use super::program::{Instruction, Program, Value, renames};
use super::text;
use super::workspace::Workspace;
use crate::run::Model;
use crate::sense::Source;
use crate::{Error, Problem, Real, Registry};
use cinoc_tape::VarId;
use cinoc_tape::op::{Affine, Arrange, Binary, Function, MatMul, Recorded, Reduce};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Returns the C file of a model. `name` appears in its comment.
///
/// # Errors
/// If the policy cannot be exported; see [`Program::record`] and [`Program::instructions`].
pub fn source(registry: &Registry, model: &Model, name: &str) -> Result<String, Error> {
    let (problem, policy) = model.build(registry)?;
    let program = Program::record(&problem, &*policy, &model.params, true)?;
    translate(&program, &problem, name, &text::effect(registry, model)?)
}

/// Returns the C file of a program for agents of a problem. `name` and `acts`, the effect of its actions, appear in its
/// comment.
///
/// # Errors
/// Names the first operation that cannot be exported.
#[doc(hidden)]
pub fn translate(program: &Program, problem: &Problem, name: &str, acts: &str) -> Result<String, Error> {
    let workspace = Workspace::new(program)?;
    let mut writer = Writer { program, workspace, constants: BTreeMap::new(), data: String::new(), product: false };
    let body = writer.body()?;
    let mut file = header::header(program, problem, name, acts, writer.workspace.size);
    file += &writer.data;
    file += &format!("\nstatic const cinoc_constant cinoc_limit[{}] = {};\n", program.width(), numbers(program.limits()));
    file += GUARD;
    if let Some(samples) = program.samples() {
        file += &hold_samples(samples);
    }
    if program.memory() > 0 {
        file += MEMORY;
    }
    if writer.product {
        file += PRODUCT;
    }
    file += &body;
    file += &helpers::definitions(program);
    file += "\n#endif\n";
    Ok(file)
}

/// Formats a number as a C constant, exact to the last bit.
fn number(x: Real) -> String {
    if cfg!(double) { format!("{x:e}") } else { format!("{x:e}f") }
}

/// Formats numbers as a C initialiser, ten per line.
fn numbers(values: &[Real]) -> String {
    let lines = values.chunks(10).map(|line| line.iter().map(|&x| number(x)).collect::<Vec<_>>().join(", "));
    format!("{{\n    {}\n}}", lines.collect::<Vec<_>>().join(",\n    "))
}

/// Rules of [`guard`](super::guard).
const GUARD: &str = "
static int cinoc_valid(cinoc_real x)
{
    return x >= -(cinoc_real)CINOC_BOUND && x <= (cinoc_real)CINOC_BOUND;
}

static int cinoc_plausible(cinoc_real x)
{
    return x >= -(cinoc_real)CINOC_RANGE && x <= (cinoc_real)CINOC_RANGE;
}

/* Copies plausible readings; where one is missing, the last valid one is held. */
static void cinoc_hold(cinoc_real *held, const cinoc_real *readings, int count)
{
    int i;
    for (i = 0; i < count; i++) {
        if (cinoc_plausible(readings[i])) held[i] = readings[i];
        else if (!cinoc_valid(held[i])) held[i] = 0;
    }
}

static cinoc_real cinoc_limited(cinoc_real x, cinoc_real limit)
{
    return x > limit ? limit : x < -limit ? -limit : x >= -limit ? x : 0;
}
";

/// Rules of [`Guard`](super::guard::Guard) for samples with a mask of lost ones.
fn hold_samples(MaskedSamples { points, axes, .. }: MaskedSamples) -> String {
    let of_slopes = |lines: String| if axes == 0 { String::new() } else { lines };
    let index = of_slopes(" j,".into());
    let check = of_slopes(format!(
        "        for (j = 0; j < {axes}; j++) read = read && cinoc_plausible(seen->slope[i * {axes} + j]);
"
    ));
    let hold = of_slopes(format!(
        "        for (j = 0; j < {axes}; j++) {{
            cinoc_real *slope = held->slope + i * {axes} + j;
            if (read || !cinoc_valid(*slope)) *slope = read ? seen->slope[i * {axes} + j] : 0;
        }}
"
    ));
    format!(
        "
/* Copies samples that were read. Lost ones are held, and their age takes the place of the mask. Returns 1 if all are
 * older than {REST} ticks. */
static int cinoc_hold_samples(cinoc_observation *held, const cinoc_observation *seen)
{{
    int i,{index} blind = 1;
    for (i = 0; i < {points}; i++) {{
        int read = seen->lost[i] < 0.5 && seen->lost[i] > -0.5 && cinoc_plausible(seen->error[i]);
{check}        if (!cinoc_valid(held->lost[i]) || held->lost[i] < 0) held->lost[i] = 0;
        held->lost[i] = read ? 0 : held->lost[i] + 1;
        if (held->lost[i] > (cinoc_real)CINOC_BOUND) held->lost[i] = (cinoc_real)CINOC_BOUND;
        if (read || !cinoc_valid(held->error[i])) held->error[i] = read ? seen->error[i] : 0;
{hold}        blind = blind && held->lost[i] > {REST};
    }}
    return blind;
}}
"
    )
}

const MEMORY: &str = "
/* Resets a memory that holds a number which is not valid. */
static void cinoc_check_memory(cinoc_real *memory)
{
    int i, valid = 1;
    for (i = 0; i < CINOC_MEMORY; i++) valid = valid && cinoc_valid(memory[i]);
    for (i = 0; i < CINOC_MEMORY && !valid; i++) memory[i] = 0;
}
";

const PRODUCT: &str = "
/* y = x w, where x has `rows` rows of `inner` numbers and w has `inner` rows of `columns` numbers. Sums of eight are
 * added up: in single precision that rounds less than one long sum. */
static void cinoc_product(cinoc_real *y, const cinoc_real *x, const cinoc_constant *w, int rows, int inner, int columns)
{
    int i, j, k, first, from;
    for (i = 0; i < rows; i++, x += inner, y += columns) {
        for (first = 0; first < columns; first += 16) {
            int some = columns - first < 16 ? columns - first : 16;
            cinoc_real sum[16] = {0};
            for (from = 0; from < inner; from += 8) {
                int end = inner - from < 8 ? inner : from + 8;
                cinoc_real part[16] = {0};
                for (k = from; k < end; k++)
                    for (j = 0; j < some; j++) part[j] += x[k] * w[k * columns + first + j];
                for (j = 0; j < some; j++) sum[j] += part[j];
            }
            for (j = 0; j < some; j++) y[first + j] = sum[j];
        }
    }
}
";

struct Writer<'a> {
    program: &'a Program,
    workspace: Workspace,
    /// Names of constants that are defined.
    constants: BTreeMap<VarId, String>,
    /// Their definitions.
    data: String,
    /// True if a matrix product occurs.
    product: bool,
}

impl Writer<'_> {
    /// Writes cinoc_reset and cinoc_act.
    fn body(&mut self) -> Result<String, Error> {
        let (program, mut lines) = (self.program, String::new());
        for (i, input) in program.inputs().iter().enumerate() {
            let one = &input.instrument;
            let sign = if one.count == 1 { "&" } else { "" };
            let sampled = program.samples().is_some();
            match one.source {
                Source::Error(_) | Source::Slope if sampled => continue,
                Source::Lost => {
                    lines += "    blind = cinoc_hold_samples(&agent->held, seen);\n";
                    continue;
                }
                _ => {}
            }
            lines += &match i == program.strength() {
                true => format!(
                    "    agent->held.{0} = cinoc_valid(seen->{0}) && seen->{0} >= (cinoc_real){LEAST_STRENGTH:e} ? \
                     (seen->{0} < 1 ? seen->{0} : 1) : 0;\n",
                    one.name
                ),
                false => format!("    cinoc_hold({sign}agent->held.{0}, {sign}seen->{0}, {1});\n", one.name, one.count),
            };
        }
        if program.samples().is_some() {
            let strength = program.inputs()[program.strength()].instrument.name;
            writeln!(lines, "    if (blind) agent->held.{strength} = 0;").expect("text");
        }
        let check = if program.memory() > 0 { "    cinoc_check_memory(agent->memory);\n" } else { "" };
        lines += check;
        for line in &program.instructions()? {
            if renames(line).is_none() {
                writeln!(lines, "    {}", self.line(line)).expect("text");
            }
        }
        let (action, width) = (at(&self.pointer(program.action()), "i"), program.width());
        writeln!(lines, "    for (i = 0; i < {width}; i++) action[i] = cinoc_limited({action}, cinoc_limit[i]);").expect("text");
        if let Some(after) = program.next_memory() {
            let from = at(&self.pointer(after), "i");
            writeln!(lines, "    for (i = 0; i < {}; i++) agent->memory[i] = {from};", program.memory()).expect("text");
        }
        lines += check;
        let size = self.workspace.size.max(1);
        let blind = program.samples().map_or("", |_| ", blind");
        Ok(format!(
            "
void cinoc_reset(cinoc_agent *agent)
{{
    static const cinoc_agent zero;
    *agent = zero;
}}

void cinoc_act(cinoc_agent *agent, const cinoc_observation *seen, cinoc_real action[{width}])
{{
    cinoc_real w[{size}];
    int i, j, k{blind};
{lines}    (void)j;
    (void)k;
    (void)w;
}}
"
        ))
    }

    /// Returns a pointer to the numbers of a variable.
    fn pointer(&mut self, id: VarId) -> String {
        let (whose, from) = self.workspace.place(self.program, id);
        if let Some(start) = self.workspace.start(whose) {
            return format!("w + {}", start + from);
        }
        let name = match self.program.value(whose) {
            Value::Input(i) => {
                let instrument = &self.program.inputs()[i].instrument;
                format!("{}agent->held.{}", if instrument.count == 1 { "&" } else { "" }, instrument.name)
            }
            Value::Memory => "agent->memory".into(),
            Value::Constant(values) => self.constant(whose, values),
            Value::Computed => unreachable!("results have storage"),
        };
        if from == 0 { name } else { format!("{name} + {from}") }
    }

    /// Returns the name of a constant, which is defined at its first use.
    fn constant(&mut self, id: VarId, values: &[Real]) -> String {
        if let Some(name) = self.constants.get(&id) {
            return name.clone();
        }
        let word = |name: &str| name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect::<String>();
        let name = match self.program.parameter(values) {
            Some(name) => format!("cinoc_{}", word(name)),
            None => format!("cinoc_constant{}", self.constants.len()),
        };
        write!(self.data, "\nstatic const cinoc_constant {name}[{}] = {};\n", values.len(), numbers(values)).expect("text");
        self.constants.insert(id, name.clone());
        name
    }

    /// Defines a table of indices and returns its name.
    fn table(&mut self, id: VarId, index: &[u32]) -> String {
        let name = format!("cinoc_index{}", self.constants.len());
        let lines = index.chunks(20).map(|line| line.iter().map(u32::to_string).collect::<Vec<_>>().join(", "));
        let list = lines.collect::<Vec<_>>().join(",\n    ");
        let kind = if index.iter().all(|&i| i < 1 << 16) { "unsigned short" } else { "unsigned long" };
        write!(self.data, "\nstatic const {kind} {name}[{}] = {{\n    {list}\n}};\n", index.len()).expect("text");
        self.constants.insert(id, name.clone());
        name
    }

    /// Returns the statement of an instruction.
    fn line(&mut self, line: &Instruction) -> String {
        let x: Vec<String> = line.inputs.iter().map(|&id| self.pointer(id)).collect();
        let shapes: Vec<_> = line.inputs.iter().map(|&id| self.program.shape(id)).collect();
        let y = self.pointer(line.id);
        let (count, width) = (line.shape.count(), line.shape.last());
        let each = |value: String| format!("for (i = 0; i < {count}; i++) {} = {value};", at(&y, "i"));
        // Loops over rows i and columns j of the result.
        let rows = |rows: usize, columns: usize, value: String| {
            let to = at(&y, &format!("i * {columns} + j"));
            format!("for (i = 0; i < {rows}; i++) for (j = 0; j < {columns}; j++) {to} = {value};")
        };
        match line.op {
            Recorded::Binary(op) => {
                let sign = match op {
                    Binary::Add => '+',
                    Binary::Subtract => '-',
                    Binary::Multiply => '*',
                    Binary::Divide => '/',
                };
                let other = match shapes[1].count() {
                    1 => at(&x[1], "0"),
                    all if all == count => at(&x[1], "i"),
                    some => at(&x[1], &format!("i % {some}")),
                };
                each(format!("{} {sign} {other}", at(&x[0], "i")))
            }
            Recorded::Affine(Affine { scale, shift }) => {
                let sum = if *shift == 0.0 { String::new() } else { format!(" + {}", number(*shift)) };
                each(format!("{} * {}{sum}", number(*scale), at(&x[0], "i")))
            }
            Recorded::Function(function) => each(of(*function, &at(&x[0], "i"))),
            Recorded::Arrange(Arrange::Reshape(_)) => unreachable!("it only renames"),
            Recorded::Arrange(Arrange::Columns(from, to)) => {
                let index = format!("i * {} + {from} + j", shapes[0].last());
                rows(line.shape.rows(), to - from, at(&x[0], &index))
            }
            Recorded::Arrange(Arrange::Gather(index)) => {
                let table = self.table(line.id, index);
                rows(line.shape.rows(), width, at(&x[0], &format!("i * {} + (int){table}[j]", shapes[0].last())))
            }
            Recorded::Arrange(Arrange::Repeat(times)) => rows(count / times, *times, at(&x[0], "i")),
            Recorded::Arrange(Arrange::RepeatRows(times)) => {
                rows(line.shape.rows(), width, at(&x[0], &format!("i / {times} * {width} + j")))
            }
            Recorded::Arrange(Arrange::TransposeEach(each)) => {
                let inner = shapes[0].last();
                rows(count / each, *each, at(&x[0], &format!("(i / {inner} * {each} + j) * {inner} + i % {inner}")))
            }
            Recorded::Arrange(Arrange::Join) => {
                let (first, second) = (shapes[0].last(), shapes[1].last());
                let part = |from: usize, columns: usize, x: &str| {
                    let (to, value) = (at(&y, &format!("i * {width} + {from} + j")), at(x, &format!("i * {columns} + j")));
                    format!("for (j = 0; j < {columns}; j++) {to} = {value};")
                };
                let (a, b) = (part(0, first, &x[0]), part(first, second, &x[1]));
                format!("for (i = 0; i < {}; i++) {{\n        {a}\n        {b}\n    }}", line.shape.rows())
            }
            Recorded::Reduce(Reduce { mean, .. }) => {
                let group = shapes[0].count() / count;
                let (to, part) = (at(&y, "i"), at(&x[0], &format!("i * {group} + j")));
                let divided = if *mean { format!("\n        {to} /= {group};") } else { String::new() };
                format!(
                    "for (i = 0; i < {count}; i++) {{\n        {to} = 0;\n        for (j = 0; j < {group}; j++) {to} += {part};{divided}\n    }}"
                )
            }
            Recorded::MatMul(MatMul) => {
                let (inner, columns) = (shapes[0].last(), shapes[1].last());
                if matches!(self.program.value(line.inputs[1]), Value::Constant(_)) {
                    self.product = true;
                    return format!("cinoc_product({y}, {}, {}, {}, {inner}, {columns});", x[0], x[1], shapes[0].rows());
                }
                let to = at(&y, &format!("i * {columns} + j"));
                let (a, b) = (at(&x[0], &format!("i * {inner} + k")), at(&x[1], &format!("k * {columns} + j")));
                format!(
                    "for (i = 0; i < {}; i++) for (j = 0; j < {columns}; j++) {{\n        {to} = 0;\n        for (k = 0; k < {inner}; k++) {to} += {a} * {b};\n    }}",
                    shapes[0].rows()
                )
            }
            _ => unreachable!("only plain operations are lines"),
        }
    }
}

/// Returns an element of an array, given a pointer to it.
fn at(pointer: &str, index: &str) -> String {
    match pointer.split_once(" + ") {
        Some((name, from)) if index == "0" => format!("{name}[{from}]"),
        Some((name, from)) => format!("{name}[{from} + {index}]"),
        None => match pointer.strip_prefix('&') {
            Some(scalar) if index == "0" => scalar.to_owned(),
            Some(_) => format!("({pointer})[{index}]"),
            None => format!("{pointer}[{index}]"),
        },
    }
}

/// Applies an elementary function to an expression.
fn of(function: Function, x: &str) -> String {
    match function {
        Function::Tanh => format!("CINOC_MATH(tanh)({x})"),
        Function::Exp => format!("CINOC_MATH(exp)({x})"),
        Function::Sin => format!("CINOC_MATH(sin)({x})"),
        Function::Cos => format!("CINOC_MATH(cos)({x})"),
        Function::Sqrt => format!("CINOC_MATH(sqrt)({x})"),
        Function::Abs => format!("CINOC_MATH(fabs)({x})"),
        Function::Relu => format!("{x} > 0 ? {x} : 0"),
        Function::Square => format!("{x} * {x}"),
        Function::Clamp(low, high) => {
            let (low, high) = (number(low), number(high));
            format!("{x} < {low} ? {low} : {x} > {high} ? {high} : {x}")
        }
    }
}

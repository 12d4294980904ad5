//! The beginning of a C file: its comment and its declarations.

use super::super::guard::{LEAST_STRENGTH, READING_BOUND, REST};
use super::super::program::Program;
use super::super::text;
use super::helpers;
use crate::Problem;
use crate::sense::Source;
use std::fmt::Write;

/// The longest line of a comment, in characters.
const WIDTH: usize = 110;

/// Wraps a text into lines that begin with `indent`, the first with `first`.
fn wrapped(first: &str, indent: &str, text: &str) -> String {
    let (mut all, mut line) = (String::new(), first.to_owned());
    for word in text::ascii(text).split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(all, "{}", line.trim_end()).expect("text");
            line = indent.to_owned();
        }
        if !line.ends_with(' ') {
            line.push(' ');
        }
        // Descriptions of custom problems must not end the comment, begin another, or form a trigraph.
        line += &word.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").replace('\\', "/");
    }
    writeln!(all, "{}", line.trim_end()).expect("text");
    all
}

fn line(text: &str) -> String {
    wrapped(" *", " *", text)
}

/// Describes each number of an action.
fn actions(problem: &Problem) -> Vec<String> {
    let swarm = &problem.swarm;
    let moves = if swarm.moves() { swarm.dimensions() } else { 0 };
    let pushes = swarm.action_width().saturating_sub(moves);
    let axes = ["x", "y", "z"];
    let word = |i: usize| match i {
        _ if i < pushes => "push, its intensity u".to_owned(),
        _ => format!("velocity along {}", axes.get(i - pushes).unwrap_or(&"the next axis")),
    };
    let limits = swarm.limits();
    (0..swarm.action_width()).map(|i| format!("action[{i}]: {}, at most {} in magnitude.", word(i), limits[i])).collect()
}

/// Writes the comment and the declarations.
pub fn header(program: &Program, problem: &Problem, name: &str, acts: &str, workspace: usize) -> String {
    let (name, version) = (text::name(name), env!("CARGO_PKG_VERSION"));
    let mut text = format!("/*\n{} *\n", line(&format!("The controller of one agent: {name}, exported by cinoc {version}.")));
    let tick = problem.stepper.dt();
    text += &line(&format!(
        "Every tick, {tick} units of time, each agent fills a cinoc_observation with its readings, calls cinoc_act, and applies the action \
         until the next tick. Each agent has its own cinoc_agent, which cinoc_reset sets to zero before the first tick. Nothing is \
         allocated, and only constants are global; cinoc_act takes {workspace} numbers of stack."
    ));
    text += &line(
        "The arithmetic is double, or float if CINOC_FLOAT is defined, for processors without double: actions then differ by about a \
         millionth of their limit. Do not compile with -ffast-math or -ffinite-math-only: missing readings would not be noticed.",
    );
    text += &line(
        "To use the file from another one, compile it and there write: \
         #define CINOC_DECLARATIONS, then #include this file.",
    );
    text += " *\n";
    text += &line(&format!(
        "Missing readings: a reading that is NaN, infinite or beyond {:e} in magnitude (CINOC_RANGE) counts as missing. The \
         last valid reading of that sensor is held; before the first one it is 0. The strength is limited to [0, 1]; a missing \
         strength, or one below {LEAST_STRENGTH:e}, is 0. An agent of strength 0 is inactive: its action is 0 and its memory is reset. \
         A memory that holds a number which is not finite or beyond CINOC_BOUND is reset to 0. Actions are always finite and within their limits.",
        program.range()
    ));
    if program.samples().is_some() {
        text += &line(&format!(
            "Lost samples: set lost[i] to 1 where sample i was not read in this tick, else to 0; missing ones count as lost without it. \
             Held samples fade with their age, and an agent that has read none for more than {REST} ticks rests: its action is 0."
        ));
    }
    text += " *\n * An observation, in this order:\n";
    for input in program.inputs() {
        let one = &input.instrument;
        let count = if one.count == 1 { String::new() } else { format!("[{}]", one.count) };
        text += &wrapped(&format!(" *   {}{count}:", one.name), " *      ", &format!("{}.", one.about));
    }
    text += " *\n";
    text += &wrapped(" * An action:", " *", acts);
    actions(problem).iter().for_each(|action| text += &wrapped(" *  ", " *      ", action));
    text += " *\n";
    text += &line(
        "The action is final as far as one agent can decide: scaled, saturated at the limits, divided by the crowd and, where the problem \
         has discs, led around them. The plant adds what is not in it: the walls of the domain, delay and noise.",
    );
    text += " */\n#ifndef CINOC_POLICY\n#define CINOC_POLICY\n\n#include <math.h>\n\n";
    text += "#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__\n";
    text += "#error \"compile without -ffast-math and -ffinite-math-only: missing readings would not be noticed\"\n#endif\n\n";
    let constant = if cfg!(double) { "double" } else { "float" };
    text +=
        "#ifdef CINOC_FLOAT\ntypedef float cinoc_real;\n#define CINOC_MATH(name) name##f\n#else\ntypedef double cinoc_real;\n";
    write!(text, "#define CINOC_MATH(name) name\n#endif\ntypedef {constant} cinoc_constant;\n\n").expect("text");
    writeln!(text, "#define CINOC_READINGS {}", program.readings()).expect("text");
    writeln!(text, "#define CINOC_ACTIONS {}", program.width()).expect("text");
    writeln!(text, "#define CINOC_MEMORY {}", program.memory()).expect("text");
    writeln!(text, "#define CINOC_BOUND {READING_BOUND:e}").expect("text");
    writeln!(text, "#define CINOC_RANGE {:e}", program.range()).expect("text");
    writeln!(text, "#define CINOC_TICK_TIME {tick:e}\n\ntypedef struct {{").expect("text");
    for input in program.inputs() {
        let one = &input.instrument;
        let count = if one.count == 1 { String::new() } else { format!("[{}]", one.count) };
        writeln!(text, "    cinoc_real {}{count};", one.name).expect("text");
    }
    text += "} cinoc_observation;\n\n/* The state of an agent between ticks: the memory of its policy, and its last valid readings. */\n";
    text += "typedef struct {\n";
    if program.memory() > 0 {
        text += "    cinoc_real memory[CINOC_MEMORY];\n";
    }
    text += "    cinoc_observation held;\n} cinoc_agent;\n\n";
    text += "/* Sets the state to zero. */\nvoid cinoc_reset(cinoc_agent *agent);\n\n";
    text += "/* Decides once: reads seen, advances the state, writes action. */\n";
    writeln!(text, "void cinoc_act(cinoc_agent *agent, const cinoc_observation *seen, cinoc_real action[{}]);", program.width())
        .expect("text");
    for input in program.inputs() {
        if let Source::Error(lens) = &input.instrument.source {
            let (points, axes) = (lens.offsets.len(), lens.steps.len());
            write!(text, "\n/* Positions of the samples, relative to the agent. */\nextern const cinoc_real cinoc_offset[{points}][{axes}];\n")
                .expect("text");
        }
    }
    text += &helpers::declarations(program);
    text + "\n#endif\n\n#ifndef CINOC_DECLARATIONS\n"
}

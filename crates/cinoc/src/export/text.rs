//! Text in exported files.

use crate::run::Model;
use crate::{Error, Registry};
use std::fmt::Write;

/// Settings of actuators that descriptions of actions refer to.
const NAMED: [&str; 5] = ["sigma", "kernel", "gain", "u_limit", "v_limit"];

/// Returns the effect of the actions of a model's agents, with the values of the settings that it refers to.
pub fn effect(registry: &Registry, model: &Model) -> Result<String, Error> {
    let mut text = registry.describe(&model.config)?.acts;
    let value = |name: &&str| model.config.get(&format!("swarm.{name}")).map(|value| format!("{name} = {value}"));
    let values: Vec<String> = NAMED.iter().filter_map(value).collect();
    if !values.is_empty() {
        write!(text, " Here {}.", values.join(", ").replace('"', "")).expect("text");
    }
    Ok(text)
}

/// Returns a name given by a user, such as a path, as printable ASCII that cannot end a comment, start one or form a
/// trigraph: any other byte is written as % and two hexadecimal digits.
pub fn name(name: &str) -> String {
    let plain = |byte: u8| (byte.is_ascii_graphic() || byte == b' ') && !b"*\\?%\"".contains(&byte);
    let each = name.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") });
    each.collect()
}

/// Returns a text as ASCII: symbols of formulas are spelled out, any other character becomes a question mark.
pub fn ascii(text: &str) -> String {
    let spelled = |symbol: char| match symbol {
        ' '..='~' => None,
        '·' | '×' => Some("*"),
        '−' | '–' => Some("-"),
        '²' => Some("^2"),
        '≤' => Some("<="),
        '≥' => Some(">="),
        '±' => Some("+-"),
        '√' => Some("sqrt "),
        '∈' => Some("in"),
        'Δ' => Some("Laplacian "),
        'σ' => Some("sigma"),
        'ξ' => Some("xi"),
        'ν' => Some("nu"),
        'ρ' => Some("rho"),
        'π' => Some("pi"),
        _ if symbol.is_whitespace() => Some(" "),
        _ => Some("?"),
    };
    text.replace("/2σ²", "/(2 σ²)")
        .chars()
        .map(|symbol| spelled(symbol).map_or_else(|| symbol.to_string(), str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_comment() {
        assert_eq!(name("runs/mine-2 (best).safetensors"), "runs/mine-2 (best).safetensors");
        assert_eq!(name("x*/;int f;/*.c"), "x%2A/;int f;/%2A.c");
        assert_eq!(name("a??/\n\u{1b}[31m\u{e9}"), "a%3F%3F/%0A%1B[31m%C3%A9");
    }

    #[test]
    fn formulas_are_spelled_out() {
        assert_eq!(ascii("u·exp(−d²/2σ²), |u| ≤ 3\u{feff}"), "u*exp(-d^2/(2 sigma^2)), |u| <= 3?");
    }
}

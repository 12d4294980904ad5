//! Small ES modules as one script: each becomes a function that is called once and gives what it exports.

/// A module: its name and its text.
type Module = (&'static str, &'static str);

macro_rules! modules {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("../../page/", $name, ".js")))),*] };
}

/// The modules of a page; each imports from those before it alone.
const MODULES: &[Module] = modules![
    "bytes", "number", "engine", "colour", "canvas", "agent", "contour", "solid", "plane", "line", "curves", "play", "hand",
    "optimum", "search", "gif", "film", "panel", "screen", "main",
];

/// The whole script.
pub fn script() -> String {
    joined(MODULES)
}

/// # Panics
/// If a module imports what none before it exports: a mistake in the sources, which a test finds.
fn joined(modules: &[Module]) -> String {
    let mut known: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut script = String::new();
    for &(name, text) in modules {
        let (mut body, mut exports) = (String::new(), Vec::new());
        for line in text.lines() {
            if let Some(import) = line.strip_prefix("import ") {
                let (names, from) = import.split_once(" from \"./").expect("an import of names from a file");
                let from = from.trim_end_matches("\";").trim_end_matches(".js");
                let (_, offered) = known.iter().find(|(known, _)| *known == from).expect("an import from a module before");
                let names: Vec<&str> = names.trim_matches(['{', '}', ' ']).split(", ").collect();
                assert!(names.iter().all(|name| offered.contains(name)), "{name}.js imports {names:?} from {from}.js");
                body.push_str(&format!("const {{ {} }} = {from}_js;\n", names.join(", ")));
                continue;
            }
            let plain = line.strip_prefix("export ").unwrap_or(line);
            if plain.len() < line.len() {
                let word = |word: &&str| !["async", "function", "class", "const"].contains(word);
                let words = plain.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
                exports.push(words.into_iter().find(word).expect("an export has a name"));
            }
            body.push_str(plain);
            body.push('\n');
        }
        let list = exports.join(", ");
        script.push_str(&format!("// {name}.js\nconst {name}_js = (() => {{\n{body}return {{ {list} }};\n}})();\n\n"));
        known.push((name, exports));
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_and_exports_become_values() {
        let modules = [
            (
                "one",
                "/** Two. */\nexport function two(x) {\n  return x;\n}\nexport const THREE = 3;\nexport async function four() {}\n",
            ),
            ("five", "import { two, THREE } from \"./one.js\";\ntwo(THREE);\n"),
        ];
        let script = joined(&modules);
        assert!(script.contains("return { two, THREE, four };") && script.contains("const { two, THREE } = one_js;"));
        assert!(!script.contains("export ") && !script.contains("import "));
    }

    #[test]
    #[should_panic(expected = "imports")]
    fn an_unknown_import_is_noticed() {
        joined(&[("one", ""), ("two", "import { three } from \"./one.js\";\n")]);
    }

    #[test]
    fn the_page_fits_together() {
        let script = script();
        assert!(!script.contains("</script") && MODULES.iter().all(|(name, _)| script.contains(&format!("const {name}_js"))));
    }
}

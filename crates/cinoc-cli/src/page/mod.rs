//! An interactive page as one file: the engine, a model, initial states, and the script. It needs no server and no network.

mod code;
mod pack;
mod sha256;

use pack::{base64, packed};
use serde_json::Value;

const TEMPLATE: &str = include_str!("../../page/page.html");
const STYLE: &str = include_str!("../../page/style.css");

/// The engine that comes with the program, compiled from `crates/cinoc-web` by `web/build`, as gzip.
pub const ENGINE: &[u8] = include_bytes!("../../page/engine.wasm.gz");

/// The larger engine for models of problem files.
pub const ENGINE_OF_FILES: &[u8] = include_bytes!("../../page/engine_files.wasm.gz");

/// Content of a page.
pub struct Page {
    /// Title of its window.
    pub title: String,
    /// Facts for the script besides those of the engine.
    pub facts: Value,
    /// The engine: WebAssembly, as gzip or as it is.
    pub engine: Vec<u8>,
    /// The file of a model.
    pub model: Vec<u8>,
    /// Start and target of each beginning, one after the other.
    pub starts: Vec<f32>,
    /// Planned actions of each beginning, one after the other; or none.
    pub plans: Vec<f32>,
}

impl Page {
    /// The text of the file.
    pub fn html(&self) -> String {
        let bytes = |numbers: &[f32]| -> Vec<u8> { numbers.iter().flat_map(|x| x.to_le_bytes()).collect() };
        let plain = |id: &str, text: &str| format!("<script type=\"text/plain\" id=\"{id}\">{text}</script>\n");
        // The page names the project, with a link if the package has one.
        let mut facts = self.facts.clone();
        facts["origin"] = env!("CARGO_PKG_REPOSITORY").into();
        // Nothing inside may look like the end of the element.
        let facts = facts.to_string().replace('<', "\\u003c");
        let data = [
            format!("<script type=\"application/json\" id=\"facts\">{facts}</script>\n"),
            plain("model", &packed(&self.model)),
            plain("starts", &packed(&bytes(&self.starts))),
            plain("plans", &packed(&bytes(&self.plans))),
            plain("engine", &packed(&self.engine)),
        ];
        // Digests are of what is between the tags, with its line ends.
        let (style, script) = (format!("\n{STYLE}"), format!("\n{}", code::script()));
        let parts = [
            ("policy", policy(&script, &style)),
            ("title", escaped(&self.title)),
            ("style", style),
            ("data", data.concat()),
            ("code", script),
        ];
        filled(TEMPLATE, &parts)
    }
}

/// Returns the content security policy of the page: its own script, style and engine run, and nothing is loaded.
fn policy(script: &str, style: &str) -> String {
    let digest = |text: &str| base64(&sha256::sha256(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}' 'wasm-unsafe-eval'; style-src 'sha256-{}'; worker-src blob:; img-src data: blob:; base-uri 'none'; form-action 'none'",
        digest(script),
        digest(style)
    )
}

/// A template with its `{{name}}`s replaced, each once.
fn filled(template: &str, parts: &[(&str, String)]) -> String {
    let mut html = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("a name ends");
        let (_, text) = parts.iter().find(|(known, _)| *known == name).expect("every name is known");
        html.push_str(before);
        html.push_str(text);
        rest = after;
    }
    html + rest
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_page_holds_everything_and_asks_for_nothing() {
        let page = Page {
            title: "a < b".into(),
            facts: json!({"about": "</script>"}),
            engine: ENGINE.to_vec(),
            model: vec![1, 2, 3],
            starts: vec![0.5; 8],
            plans: Vec::new(),
        };
        let origin = env!("CARGO_PKG_REPOSITORY");
        let html = if origin.is_empty() { page.html() } else { page.html().replace(origin, "") };
        assert!(html.contains("<title>a &lt; b</title>") && !html.contains("{{"));
        assert!(html.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-"));
        assert_eq!(html.matches("</script>").count(), 6, "five parts and the code, each closed once");
        for outside in ["http:", "https:", "src=", "@import", "fetch("] {
            assert!(!html.contains(outside), "a page must not ask for anything: {outside}");
        }
    }
}

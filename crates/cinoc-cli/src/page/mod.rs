//! A page to play with as one file: the engine, a model, where it begins, and the code that draws. It needs no server and no network.

mod code;
mod pack;

use pack::packed;
use serde_json::Value;

const TEMPLATE: &str = include_str!("../../page/page.html");
const STYLE: &str = include_str!("../../page/style.css");

/// The engine that comes with the program, compiled from `crates/cinoc-web` by `web/build`, as gzip.
pub const ENGINE: &[u8] = include_bytes!("../../page/engine.wasm.gz");

/// What a page carries.
pub struct Page {
    /// Title of its window.
    pub title: String,
    /// What the code has to know besides what the engine says.
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
        // Nothing inside may look like the end of the element.
        let facts = self.facts.to_string().replace('<', "\\u003c");
        let data = [
            format!("<script type=\"application/json\" id=\"facts\">{facts}</script>\n"),
            plain("model", &packed(&self.model)),
            plain("starts", &packed(&bytes(&self.starts))),
            plain("plans", &packed(&bytes(&self.plans))),
            plain("engine", &packed(&self.engine)),
        ];
        let parts = [("title", escaped(&self.title)), ("style", STYLE.into()), ("data", data.concat()), ("code", code::script())];
        filled(TEMPLATE, &parts)
    }
}

/// A template with its `{{name}}`s replaced, each once.
fn filled(template: &str, parts: &[(&str, String)]) -> String {
    let mut html = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("a name ends");
        let (_, text) = parts.iter().find(|(known, _)| *known == name).expect("every name is known");
        html.push_str(before);
        html.push_str(text.trim_end());
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
        let html = page.html();
        assert!(html.contains("<title>a &lt; b</title>") && !html.contains("{{"));
        assert_eq!(html.matches("</script>").count(), 6, "five parts and the code, each closed once");
        for outside in ["http:", "https:", "src=", "@import", "fetch("] {
            assert!(!html.contains(outside), "a page must not ask for anything: {outside}");
        }
    }
}

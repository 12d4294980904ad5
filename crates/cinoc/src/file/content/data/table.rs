//! Tables as text: a header with the names of columns, then rows of numbers.

use crate::error::shortened;
use crate::settings::nearest;

/// Reads columns by their names; an error is the reason as a sentence. Columns are separated by commas, semicolons or
/// tabs. Empty lines and those that start with # are left out.
pub fn columns(file: &[u8], wanted: &[&str]) -> Result<Vec<Vec<f64>>, String> {
    let text = std::str::from_utf8(file).map_err(|_| "it is not text in UTF-8; save it as CSV")?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let Some((_, header)) = lines.next() else { return Err("it is empty; its first line must name the columns".into()) };
    let separator = *[';', '\t', ','].iter().max_by_key(|separator| header.matches(**separator).count()).unwrap_or(&',');
    let names: Vec<String> = cells(header, separator).collect();
    let mut places = Vec::new();
    for name in wanted {
        places.push(names.iter().position(|known| known == name).ok_or_else(|| {
            let near = nearest(name, names.iter().map(String::as_str));
            let advice = if near.is_empty() { shortened(&names.join(", ")) } else { near.join(" or ") };
            format!("it has no column {}; write {advice}", shortened(name))
        })?);
    }
    let mut all = vec![Vec::new(); wanted.len()];
    for (number, line) in lines {
        let row: Vec<String> = cells(line, separator).collect();
        for ((place, name), column) in places.iter().zip(wanted).zip(&mut all) {
            let cell = row.get(*place).map_or("", String::as_str);
            let Some(value) = cell.parse().ok().filter(|x: &f64| x.is_finite()) else {
                let cell = shortened(cell);
                return Err(format!(
                    "line {number}: {cell:?} in the column {name} is not a number; correct it, or remove the line"
                ));
            };
            column.push(value);
        }
    }
    if all.iter().any(Vec::is_empty) { Err("it has no rows below its header; add some".into()) } else { Ok(all) }
}

/// Cells of a line, without quotes and spaces around them.
fn cells(line: &str, separator: char) -> impl Iterator<Item = String> {
    let mut quoted = false;
    let parts = line.split(move |c| {
        quoted ^= c == '"';
        c == separator && !quoted
    });
    parts.map(|cell| cell.trim().trim_matches('"').trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_names() {
        let text = "\u{feff}# a comment\n\"time, h\",T\r\n0,1.5\r\n\n1, -2e1\r\n";
        assert_eq!(columns(text.as_bytes(), &["T", "time, h"]).unwrap(), [[1.5, -20.0], [0.0, 1.0]]);
        assert_eq!(columns(b"a;b\n1;2,5\n", &["a"]).unwrap(), [[1.0]]);
        for (text, wanted, expected) in [
            ("time,temperature\n0,1\n", "temperatur", "it has no column temperatur; write temperature"),
            ("a,b\n0,1\n1,n/a\n", "b", "line 3: \"n/a\" in the column b is not a number"),
            ("a,b\n0\n", "b", "line 2: \"\" in the column b"),
            ("a,b\n", "b", "no rows"),
            ("", "b", "it is empty"),
            ("a\nnan\n", "a", "line 2"),
        ] {
            let text = columns(text.as_bytes(), &[wanted]).unwrap_err();
            assert!(text.contains(expected), "{text}");
        }
    }
}

//! The one typeface of all figures, embedded so that drawing needs no system fonts.

use anyhow::{Result, anyhow};
use plotters::style::{FontDesc, FontFamily, FontStyle, register_font};

/// Generic family name: SVG viewers choose their own font, bitmaps use the embedded one.
pub const FAMILY: &str = "sans-serif";

/// DejaVu Sans, cut down to Latin, Greek and common mathematical signs.
static DEJAVU_SANS: &[u8] = include_bytes!("font/DejaVuSans-subset.ttf");

/// Line height of the embedded font in units of its em; the rasteriser counts in line heights.
const LINE_HEIGHT: f32 = 1.164;

/// Makes the embedded font known to plotters; to be called before any text is drawn.
pub fn register() -> Result<()> {
    register_font(FAMILY, FontStyle::Normal, DEJAVU_SANS).map_err(|_| anyhow!("the embedded font cannot be read"))
}

/// Width in pixels of `text` set at `size` pixels per em (0 if the font is not registered).
pub fn width(text: &str, size: f32) -> f32 {
    // Measured large, because plotters rounds the width to whole pixels.
    let zoom = 8.0;
    let layout = face(size * zoom).layout_box(text);
    layout.map_or(0.0, |(_, (right, _))| right as f32 / zoom)
}

/// Calls `paint(x, y, coverage)` for the pixels of `text`, relative to the start of its baseline.
pub fn rasterise(text: &str, size: f32, mut paint: impl FnMut(i32, i32, f32)) {
    let face = face(size);
    let baseline = (face.get_size() as f32 / 2.0) as i32;
    // The embedded font was registered, so neither of the two errors can occur.
    let _ = face.draw(text, (0, -baseline), |x, y, coverage| {
        paint(x, y, coverage);
        Ok::<(), std::convert::Infallible>(())
    });
}

fn face(size: f32) -> FontDesc<'static> {
    FontDesc::new(FontFamily::SansSerif, f64::from(size * LINE_HEIGHT), FontStyle::Normal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_font_has_the_signs_that_figures_use() {
        register().expect("font registers");
        let pixels = |sign: char| {
            let mut all = Vec::new();
            rasterise(&sign.to_string(), 40.0, |x, y, c| all.push((x, y, (c * 255.0) as u8)));
            all
        };
        let missing = pixels('\u{10FFFF}');
        for sign in "aξν²⁻⁰⁹×·−→≤".chars() {
            let painted = pixels(sign);
            assert!(!painted.is_empty() && painted != missing, "{sign} is not in the font");
        }
    }
}

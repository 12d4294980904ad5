//! Pictures in PNG format.

use crate::budget;

/// Maximum number of bytes that a byte of a packed picture unpacks to: Deflate writes 258 of them in two bits.
const UNPACKED: u64 = 1032;

/// A picture in eight bits per colour, row by row from the top.
#[derive(Debug)]
pub struct Picture {
    /// Pixels along a row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Colours of a pixel, transparency included.
    samples: usize,
    bytes: Vec<u8>,
}

impl Picture {
    /// Reads a picture of at most `most` pixels; an error is the reason as a sentence. No memory is taken for pixels
    /// that are claimed but not there.
    pub fn read(file: &[u8], most: u64) -> Result<Self, String> {
        let mut decoder = png::Decoder::new(file);
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        // Packed texts and profiles say nothing about a colour.
        decoder.set_ignore_text_chunk(true);
        decoder.set_ignore_iccp_chunk(true);
        let mut reader = decoder.read_info().map_err(|_| "it is not a picture in PNG format; save it again")?;
        let (width, height) = (reader.info().width, reader.info().height);
        if u64::from(width) * u64::from(height) > most {
            return Err(format!("it has {width} × {height} pixels; make it smaller, the grid has far fewer nodes"));
        }
        if reader.info().raw_bytes() as u64 > UNPACKED * file.len() as u64 {
            let length = file.len();
            return Err(format!("it is damaged: {length} bytes cannot hold {width} × {height} pixels; save it again"));
        }
        // The decoder takes it for granted.
        if reader.info().palette.as_ref().is_some_and(|palette| palette.len() % 3 != 0 || !(3..=768).contains(&palette.len())) {
            return Err("it is damaged: its palette is no list of colours; save it again".into());
        }
        budget::check("a picture", reader.output_buffer_size() as f64).map_err(|error| error.to_string())?;
        let mut bytes = vec![0; reader.output_buffer_size()];
        // The first picture of an animation may be smaller than the file says.
        let info = reader.next_frame(&mut bytes).map_err(|_| "it is damaged; save it again")?;
        bytes.truncate(info.buffer_size());
        Ok(Self { width: info.width as usize, height: info.height as usize, samples: info.color_type.samples(), bytes })
    }

    /// Colours of a pixel, without transparency: one for grey, else three.
    fn pixel(&self, x: usize, y: usize) -> &[u8] {
        &self.bytes[(y * self.width + x) * self.samples..][..if self.samples < 3 { 1 } else { 3 }]
    }

    /// Red, green and blue of a pixel.
    pub fn colour(&self, x: usize, y: usize) -> [u8; 3] {
        match *self.pixel(x, y) {
            [red, green, blue] => [red, green, blue],
            ref grey => [grey[0]; 3],
        }
    }

    /// Grey level of a pixel, from 0 to 1.
    pub fn level(&self, x: usize, y: usize) -> f64 {
        let pixel = self.pixel(x, y);
        pixel.iter().map(|&c| f64::from(c)).sum::<f64>() / (255 * pixel.len()) as f64
    }
}

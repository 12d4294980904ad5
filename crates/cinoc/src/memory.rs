//! Memory is estimated before it is asked for: a size that cannot be had is an error with a sentence, not an aborted program.

use crate::Error;

/// Refuses what needs more bytes than there are; `what` is named in the error.
pub fn afford(what: &str, bytes: f64) -> Result<(), Error> {
    let limit = limit();
    if bytes <= limit {
        return Ok(());
    }
    let gigabytes = |bytes: f64| format!("{:.1} GB", bytes / 1e9);
    Err(Error::TooLarge { what: what.into(), need: gigabytes(bytes), limit: gigabytes(limit) })
}

/// Bytes that may be used: `CINOC_MEMORY_MB` megabytes, or what the system says is available, or else 4 GB.
fn limit() -> f64 {
    let megabytes = std::env::var("CINOC_MEMORY_MB").ok().and_then(|text| text.parse::<f64>().ok()).filter(|mb| *mb > 0.0);
    megabytes.map(|mb| mb * 1e6).or_else(available).unwrap_or(4e9)
}

/// What Linux says is available.
fn available() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_allowed_and_the_rest_explained() {
        assert!(afford("a field", 1e3).is_ok());
        let error = afford("a window of a kilometre", 1e20).unwrap_err().to_string();
        assert!(error.starts_with("a window of a kilometre") && error.contains("GB"), "{error}");
    }
}

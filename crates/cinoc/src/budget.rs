//! Memory budget: sizes are estimated before allocation, so that a size that does not fit is an error with a message,
//! not an aborted program.

use crate::Error;

/// Returns an error if `bytes` exceed the available memory; `what` is named in it.
pub fn check(what: &str, bytes: f64) -> Result<(), Error> {
    let limit = limit();
    if bytes <= limit {
        return Ok(());
    }
    let gigabytes = |bytes: f64| format!("{:.1} GB", bytes / 1e9);
    Err(Error::TooLarge { what: what.into(), need: gigabytes(bytes), limit: gigabytes(limit) })
}

/// Returns the bytes that may be used: `CINOC_MEMORY_MB` megabytes, or the available memory of the system, or else 4
/// GB.
fn limit() -> f64 {
    let megabytes = std::env::var("CINOC_MEMORY_MB").ok().and_then(|text| text.parse::<f64>().ok()).filter(|mb| *mb > 0.0);
    megabytes.map(|mb| mb * 1e6).or_else(available).unwrap_or(4e9)
}

/// Returns the available memory as Linux reports it.
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
        assert!(check("a field", 1e3).is_ok());
        let error = check("a window of a kilometre", 1e20).unwrap_err().to_string();
        assert!(error.starts_with("a window of a kilometre") && error.contains("GB"), "{error}");
    }
}

//! The macros of the crate under a name other than `cinoc`.

cinoc_f64::words! {
    /// A word.
    pub enum Sign {
        /// Above zero.
        Positive = "plus",
        /// Below zero.
        Negative = "minus",
    }
}

cinoc_f64::settings! {
    /// Constants of an equation.
    pub struct Physics {
        /// Nodes of the grid.
        nodes: usize = 8..=4096,
        /// Diffusivity.
        nu: f64 = 1e-9..=1e3,
        /// Sign of the reaction.
        sign: Sign = (),
    }
}

#[test]
fn settings_are_written_and_read_under_another_crate_name() {
    let physics = Physics { nodes: 64, nu: 0.5, sign: Sign::Negative };
    let text = serde_json::to_string(&physics).expect("JSON");
    assert_eq!(text, r#"{"nodes":64,"nu":0.5,"sign":"minus"}"#);
    assert_eq!(serde_json::from_str::<Physics>(&text).expect("settings"), physics);
    let error = serde_json::from_str::<Physics>(r#"{"nodes":64,"nu":0.5,"sign":"none"}"#).expect_err("no such word").to_string();
    assert!(error.contains("unknown variant `none`, expected `plus` or `minus`"), "{error}");
    assert_eq!(<Physics as cinoc_f64::settings::Settings>::table().len(), 3);
}

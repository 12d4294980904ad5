//! Sets `cfg(double)`, by which `Real` is `f64`: a crate name decides the precision, not a feature that one dependant
//! switches for all.

fn main() {
    println!("cargo::rustc-cfg=double");
    println!("cargo::rerun-if-changed=Cargo.toml");
}

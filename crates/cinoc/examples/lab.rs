//! lab
use cinoc::problem::*;
use cinoc::train::Trainer;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut c = defaults(&args[1], Preset::Paper).unwrap();
    c.train.shard = args[2].parse().unwrap();
    c.train.segment = args[3].parse().unwrap();
    c.train.memory_mb = args[4].parse().unwrap();
    let mut t = Trainer::new(Problem::new(c).unwrap(), 0, std::env::var("THREADS").map_or(2, |t| t.parse().unwrap())).unwrap();
    t.rehearse(true).unwrap();
    let mut g = vec![]; let mut f = vec![];
    if let Ok(n) = std::env::var("GRADS") { for _ in 0..n.parse().unwrap() { t.rehearse(true).unwrap(); } return; }
    for _ in 0..8 {
        let s = Instant::now(); t.rehearse(true).unwrap(); g.push(s.elapsed().as_secs_f64()*1e3);
        let s = Instant::now(); t.rehearse(false).unwrap(); f.push(s.elapsed().as_secs_f64()*1e3);
    }
    g.sort_by(f64::total_cmp); f.sort_by(f64::total_cmp);
    println!("shard {} seg {} mem {}: grad {:.1} (min {:.1}) forward {:.1} (min {:.1}) bytes {} MB", args[2], args[3], args[4], g[4], g[0], f[4], f[0], t.bytes()>>20);
}

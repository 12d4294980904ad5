//! The engine of interactive pages: the environments, policies and searches of the library, stepped by a browser.
//!
//! ```text
//! Stage: three lanes of one instance, and the changes a visitor can make      stage.rs, brush.rs
//! search: the best actions from the state that lanes begin with               search.rs
//! border: the functions that the page calls, WebAssembly only                 border.rs
//! ```
//!
//! The page is in `crates/cinoc-cli/page`; `cinoc show P -o page.html` writes everything into one file. `web/build`
//! compiles two engines: one for problems that come with the program, and one with problem files.

#[cfg(target_arch = "wasm32")]
mod border;
mod brush;
mod search;
mod stage;

#[cfg(target_arch = "wasm32")]
pub use border::know;
pub use brush::Brush;
pub use search::{Progress, search};
pub use stage::{Lane, Stage};

//! A page that people play with: the same environments, policies and searches as everywhere else, stepped by a browser.
//!
//! ```text
//! Stage: three lanes of one instance, and all that a visitor may do to them      stage.rs, brush.rs
//! search: the best actions from where the lanes begin                            search.rs
//! border: the calls of the page, numbers only                                    border.rs, WebAssembly alone
//! ```
//!
//! The page itself is in `page/`; `cinoc show P -o page.html` puts everything into one file. `web/build` compiles the engine.

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

//! The page's entry: panic hook and mount, nothing else.

fn main() {
    #[cfg(target_arch = "wasm32")]
    rooflens::app::start();
}

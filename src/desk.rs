//! The worker's entry: the measuring desk, and nothing else.

fn main() {
    #[cfg(target_arch = "wasm32")]
    rooflens::worker::start();
}

//! The worker's entry: allocator and the measuring desk, nothing else.

// As on the page: much smaller than the standard one.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

fn main() {
    #[cfg(target_arch = "wasm32")]
    rooflens::worker::start();
}

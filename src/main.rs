//! The page's entry: allocator, panic hook and mount, nothing else.

// Much smaller than the standard one, of which std keeps a part for its own threads.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

fn main() {
    #[cfg(target_arch = "wasm32")]
    rooflens::app::start();
}

//! The page's entry: allocator, panic hook and mount, nothing else.

// Half the size of the standard one, and as fast.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

fn main() {
    #[cfg(target_arch = "wasm32")]
    rooflens::app::start();
}

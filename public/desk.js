// Starts the measuring desk in its worker; see src/worker.rs.
importScripts("./rooflens-desk.js");
wasm_bindgen({ module_or_path: "./rooflens-desk_bg.wasm" });

//! The command line over the same core as the page.
//!
//! `args` says what can be asked, `input` reads models, and each command is a file. Numbers go to stdout, everything
//! else to stderr.

// The page is built from the same package: for WebAssembly there is no command line.
#[cfg(target_arch = "wasm32")]
fn main() {}

#[cfg(not(target_arch = "wasm32"))]
mod args;
#[cfg(not(target_arch = "wasm32"))]
mod bench;
#[cfg(not(target_arch = "wasm32"))]
mod compare;
#[cfg(not(target_arch = "wasm32"))]
mod estimate;
#[cfg(not(target_arch = "wasm32"))]
mod failure;
#[cfg(not(target_arch = "wasm32"))]
mod input;
#[cfg(not(target_arch = "wasm32"))]
mod jobs;
#[cfg(not(target_arch = "wasm32"))]
mod memory;
#[cfg(not(target_arch = "wasm32"))]
mod presets;
#[cfg(not(target_arch = "wasm32"))]
mod question;
#[cfg(not(target_arch = "wasm32"))]
mod request;
#[cfg(not(target_arch = "wasm32"))]
mod resolve;

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    use args::{Cli, Command};
    use clap::Parser as _;
    let result = match Cli::parse().command {
        Command::Estimate(args) => match &args.jobs {
            Some(jobs) => jobs::run(jobs),
            None => estimate::run(&args),
        },
        Command::Resolve(args) => resolve::run(&args),
        Command::Bench(bench) => bench::run(&bench),
        Command::Memory(args) => memory::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Presets => presets::run(),
    };
    result.map_or_else(|failure| failure.report(), |()| std::process::ExitCode::SUCCESS)
}

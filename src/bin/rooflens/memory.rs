//! `rooflens memory`: weights of a GPU by category, its KV cache, and what fits.

use crate::args::Memory;
use crate::estimate::notes;
use crate::failure::{Failure, print};
use rooflens::estimate::physical::Physical;
use rooflens::estimate::{EstimateError, Scope};
use rooflens::export::{aligned, printable};
use rooflens::format::{NONE, Unit, capacity, grouped, si};
use rooflens::memory::{Fit, Plan, Pool, weights};
use rooflens::units::Bytes;

/// Prints the tables.
pub(crate) fn run(args: &Memory) -> Result<(), Failure> {
    let spec = args.config.load(args.companion.read()?.as_ref())?;
    let (settings, question) = (args.settings(), args.question());
    let physical = Physical::new(&spec, &settings, question.served.assumptions, question.hardware)
        .map_err(EstimateError::NotDescribed)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
    let reserve = args.reserve.map(|gib| Bytes((gib * f64::from(1 << 30)) as u128));
    let assumed = &question.served.plan;
    let plan = Plan {
        utilization: args.utilization.unwrap_or(assumed.utilization),
        reserve: reserve.or(assumed.reserve),
        block: args.block_size.map_or(assumed.block, |block| block.get().into()),
        ..*assumed
    };
    let parameters = physical.anatomy().parameters();
    let count = |amount: u128| si(amount as f64, Unit::PARAMETERS);
    let mut facts = vec![
        ("model", printable(&args.config.name())),
        ("layout", settings.layout.label()),
        ("parameters", format!("{}, {} for a token", count(parameters.total()), count(parameters.active))),
    ];
    if parameters.mtp > 0 {
        facts.push(("prediction layers", format!("{}, loaded for speculative decoding only", count(parameters.mtp))));
    }
    let facts: Vec<[String; 2]> = facts.into_iter().map(|(word, value)| [word.to_owned(), value]).collect();
    let mut text = aligned(&facts, 2);
    for stage in physical.each_stage() {
        let held = weights(&physical, Scope::PerGpu, stage);
        let pool = Pool::of(&physical, stage, &plan);
        let (bytes, every) = pool.token();
        let mut rows = vec![["WEIGHTS".to_owned(), "PER GPU".to_owned()]];
        rows.extend(held.categories.named().map(|(name, amount)| [name.replace('_', " "), capacity(Bytes(amount))]));
        rows.push(["total".to_owned(), capacity(held.total())]);
        rows.push(["KV CACHE".to_owned(), String::new()]);
        rows.push(["a token".to_owned(), si(bytes as f64 / every.max(1) as f64, Unit::BYTE)]);
        let length = grouped(args.length.into());
        rows.push([format!("a sequence of {length}, reserved"), capacity(pool.reserved(args.length))]);
        rows.push([format!("a sequence of {length}, used"), capacity(pool.used(args.length))]);
        text.extend([format!("\nstage {} of {}\n", stage + 1, physical.stages()), aligned(&rows, 1)]);
    }
    if let Some(accelerator) = question.hardware {
        let fit = Fit::of(&physical, accelerator, &plan);
        let whole = |amount: Option<u128>| amount.map_or_else(|| NONE.to_owned(), grouped);
        let reserve = fit.stages.first().map_or(Bytes(0), |stage| stage.reserve);
        let left = fit.stages.iter().filter_map(|stage| stage.left).min();
        let rows = [
            ["accelerator".to_owned(), accelerator.name.clone().into_owned()],
            ["usable memory".to_owned(), capacity(fit.usable)],
            ["taken by the server".to_owned(), capacity(fit.taken)],
            ["set aside for activations".to_owned(), capacity(reserve)],
            ["left for the KV cache".to_owned(), left.map_or_else(|| "nothing, it does not fit".to_owned(), capacity)],
            ["tokens that fit".to_owned(), whole(fit.tokens())],
            [format!("sequences of {} that fit", grouped(args.length.into())), whole(fit.sequences(args.length))],
        ];
        text.push('\n');
        text.push_str(&aligned(&rows, 1));
    }
    notes(spec.physical_notes());
    print(&text)
}

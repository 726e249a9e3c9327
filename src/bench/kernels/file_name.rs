//! What the name of a file says: the case, the rank, and whether it is a summary or a trace.
//!
//! `vllm bench forward --profile-dir` writes `CASE.rankR.kernels.json` and traces such as `CASE.rankR.trace.json.gz`.
//! Profilers put other parts into a trace's name (`dp0_pp0_tp1_rank1.17.pt.trace.json.gz`); the rank is found there,
//! the case is not.

/// What a name says about its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName {
    /// The name of the case, where the name has the form that `vllm bench forward` gives it.
    pub case: Option<String>,
    /// The rank that the file was recorded on, where the name holds `rankR` or `rank_R`.
    pub rank: Option<u32>,
    /// What is in the file, by the end of its name.
    pub kind: FileKind,
}

/// What is in a file, by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A kernel summary: `.kernels.json`, and any name that is no trace's.
    Summary,
    /// A Chrome trace, packed or not: `.trace.json`, `.trace.json.gz`, and any other `.gz`.
    Trace,
}

/// Ends of names, the longest first, whether one stands for a trace, and whether what is before it can name a case.
const ENDS: [(&str, FileKind); 6] = [
    (".pt.trace.json.gz", FileKind::Trace),
    (".pt.trace.json", FileKind::Trace),
    (".trace.json.gz", FileKind::Trace),
    (".trace.json", FileKind::Trace),
    (".kernels.json", FileKind::Summary),
    (".gz", FileKind::Trace),
];

impl FileName {
    /// Reads a name; folders before it are left out. Any name is one: what it does not say is `None`.
    #[must_use]
    pub fn of(path: &str) -> Self {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        // Only ASCII letters change, so that places stay the same.
        let lower = name.to_ascii_lowercase();
        let end = ENDS.iter().find(|(end, _)| lower.ends_with(end));
        let (end, kind) = end.map_or(("", FileKind::Summary), |&(end, kind)| (end, kind));
        let stem = lower.strip_suffix(end).unwrap_or(&lower);
        let found = rank(stem);
        let case = match &found {
            Some(found) if found.last && end.len() > ".gz".len() => name.get(..found.start),
            None if end == ".kernels.json" => name.get(..stem.len()),
            _ => None,
        };
        let case = case.map(|case| case.strip_suffix('.').unwrap_or(case)).filter(|case| !case.is_empty());
        Self { case: case.map(str::to_owned), rank: found.map(|found| found.rank), kind }
    }
}

/// A rank in a name.
struct Found {
    start: usize,
    rank: u32,
    /// Nothing follows it, and a full stop is before it.
    last: bool,
}

/// The last `rankR` or `rank_R` that stands alone: neither `crank3` nor `rank3b`.
fn rank(stem: &str) -> Option<Found> {
    stem.rmatch_indices("rank").find_map(|(start, word)| {
        let before = stem.get(..start)?;
        let rest = stem.get(start + word.len()..)?;
        let rest = rest.strip_prefix('_').unwrap_or(rest);
        let (digits, after) = rest.split_at_checked(rest.bytes().take_while(u8::is_ascii_digit).count())?;
        if before.ends_with(char::is_alphanumeric) || after.starts_with(char::is_alphanumeric) {
            return None;
        }
        let last = after.is_empty() && before.ends_with('.');
        Some(Found { start, rank: digits.parse().ok()?, last })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use FileKind::{Summary, Trace};
    use proptest::prelude::*;

    #[track_caller]
    fn says(name: &str, case: Option<&str>, rank: Option<u32>, kind: FileKind) {
        assert_eq!(FileName::of(name), FileName { case: case.map(str::to_owned), rank, kind }, "{name}");
    }

    #[test]
    fn names_of_vllm_bench_forward() {
        says("decode.rank0.kernels.json", Some("decode"), Some(0), Summary);
        says("/tmp/out/32*1@8192.rank12.kernels.json", Some("32*1@8192"), Some(12), Summary);
        says("C:\\out\\a.rank1.b.rank3.kernels.json", Some("a.rank1.b"), Some(3), Summary);
        says("Mix.RANK2.Kernels.JSON", Some("Mix"), Some(2), Summary);
        says("decode.rank7.trace.json.gz", Some("decode"), Some(7), Trace);
        says("decode.rank7.trace.json", Some("decode"), Some(7), Trace);
    }

    #[test]
    fn names_that_say_less() {
        says("dp0_pp0_tp1_dcp0_ep1_rank1.1749.pt.trace.json.gz", None, Some(1), Trace);
        says("trace_rank_5_worker.pt.trace.json", None, Some(5), Trace);
        says("worker.gz", None, None, Trace);
        says("decode.kernels.json", Some("decode"), None, Summary);
        says("crank3.kernels.json", Some("crank3"), None, Summary);
        says("rank3.kernels.json", None, Some(3), Summary);
        says("rank99999999999.json", None, None, Summary);
        says("decode.json", None, None, Summary);
        says("", None, None, Summary);
    }

    proptest! {
        #[test]
        fn any_name_is_read(name in "\\PC*|[ranké0-9._/]{0,30}(\\.kernels\\.json|\\.trace\\.json\\.gz)?") {
            let _ = FileName::of(&name);
        }

        #[test]
        fn written_names_are_read_back(case in "[a-z0-9=*@:,]{1,12}", rank in any::<u32>()) {
            let read = FileName::of(&format!("{case}.rank{rank}.kernels.json"));
            prop_assert_eq!(read, FileName { case: Some(case), rank: Some(rank), kind: Summary });
        }
    }
}

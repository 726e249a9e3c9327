//! Units and the prefixes that each is printed with.

/// A unit, and the prefixes that it is printed with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    pub(super) symbol: &'static str,
    /// Prefix and factor, smallest first.
    pub(super) prefixes: &'static [(&'static str, f64)],
    /// Without a prefix it counts things: `5 B`, not `5.00 B`.
    pub(super) counts: bool,
}

const DECIMAL: &[(&str, f64)] =
    &[("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12), ("P", 1e15), ("E", 1e18), ("Z", 1e21), ("Y", 1e24)];
/// Powers of 1024.
const BINARY: &[(&str, f64)] = &[
    ("", 1.0),
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
];
const FRACTIONS: &[(&str, f64)] = &[("n", 1e-9), ("µ", 1e-6), ("m", 1e-3), ("", 1.0)];
const WORDS: &[(&str, f64)] =
    &[("", 1.0), ("thousand ", 1e3), ("million ", 1e6), ("billion ", 1e9), ("trillion ", 1e12)];
const BARE: &[(&str, f64)] = &[("", 1.0)];

impl Unit {
    /// Operations: `129 TFLOP`.
    pub const FLOP: Self = Self { symbol: "FLOP", prefixes: DECIMAL, counts: true };
    /// Compute rate: `1.98 PFLOP/s`.
    pub const FLOP_PER_SECOND: Self = Self { symbol: "FLOP/s", prefixes: DECIMAL, counts: false };
    /// Bytes moved, decimal as bandwidth is: `85.9 GB`.
    pub const BYTE: Self = Self { symbol: "B", prefixes: DECIMAL, counts: true };
    /// Transfer rate: `900 GB/s`.
    pub const BYTE_PER_SECOND: Self = Self { symbol: "B/s", prefixes: DECIMAL, counts: false };
    /// Bytes held, binary as memory is: `79.2 GiB`.
    pub const CAPACITY: Self = Self { symbol: "B", prefixes: BINARY, counts: true };
    /// Arithmetic intensity, without prefixes: `452 FLOP/B`.
    pub const INTENSITY: Self = Self { symbol: "FLOP/B", prefixes: BARE, counts: false };
    /// Throughput: `12.3 ktok/s`.
    pub const TOKEN_PER_SECOND: Self = Self { symbol: "tok/s", prefixes: DECIMAL, counts: false };
    /// Joules.
    pub const JOULE: Self = Self { symbol: "J", prefixes: DECIMAL, counts: false };
    /// Parameters: `671 billion parameters`.
    pub const PARAMETERS: Self = Self { symbol: "parameters", prefixes: WORDS, counts: true };
    /// Durations, from nanoseconds to seconds: `65.0 ms`.
    pub const SECOND: Self = Self { symbol: "s", prefixes: FRACTIONS, counts: false };
}

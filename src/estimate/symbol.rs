//! The inputs of the formulas, by the letters in which they are written.

macro_rules! symbols {
    ($($variant:ident $name:literal $meaning:literal)*) => {
        /// An input of a formula.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Symbol {
            $(#[doc = $meaning] $variant),*
        }

        impl Symbol {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// How many there are.
            pub const COUNT: usize = Self::ALL.len();

            /// The letters that stand for it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// What it is.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning),* }
            }
        }
    };
}

symbols! {
    Tokens "T" "new tokens of the batch"
    TokenContext "TC" "sum over requests of new tokens x KV length"
    TokenWindow "TC(W)" "sum over requests of new tokens x KV length, capped at the window"
    LogitsTokens "T_logits" "tokens that need logits: one a prefill, every one of a decode"
    PrefillTokens "T_p" "new tokens of prefills"
    DecodeTokens "T_d" "new tokens of decodes"
    PrefillContext "C_p" "sum of KV lengths of prefills"
    DecodeContext "C_d" "sum of KV lengths of decodes"
    PrefillWindow "C_p(W)" "sum of KV lengths of prefills, capped at the window"
    DecodeWindow "C_d(W)" "sum of KV lengths of decodes, capped at the window"
    Layers "L" "layers"
    FullLayers "L_full" "layers with full attention"
    SlidingLayers "L_swa" "layers with a sliding window"
    Hidden "D" "hidden size"
    Heads "q" "attention heads"
    KvHeads "kv" "KV heads"
    HeadDim "d" "elements a head"
    WeightBytes "w" "bytes a weight"
    ActivationBytes "a" "bytes an activation"
    CacheBytes "k" "bytes a KV-cache element"
    KvRank "c" "rank of the KV latent"
    RopeDim "r" "rotary elements of a head"
    NopeDim "n" "other elements of a head"
    ValueDim "v" "elements of a value head"
    QueryRank "qr" "rank of the query latent"
    QueryDim "h" "elements of a query head, n + r"
    DenseWidth "DI" "width of a dense FFN"
    ExpertWidth "MI" "width of an expert"
    SharedExperts "S" "shared experts"
    RoutedTokens "N" "token-expert pairs, T x experts per token"
    ActiveExperts "A" "experts touched, at most one a pair"
    DenseLayers "L_d" "layers with a dense FFN"
    MoeLayers "L_m" "layers with experts"
    Vocab "V" "vocabulary"
    Rows "M" "rows that a matrix is multiplied with"
    Inputs "I" "input elements"
    Outputs "O" "output elements"
    Copies "E" "distinct matrices that are read"
    InputBytes "b" "bytes an input element"
    Pairs "P" "pairs of a new token and one that it sees"
    Seen "C" "cached tokens that are read"
    KeyDim "e" "elements that a pair is compared over, or added up"
    LocalHeads "g" "heads on this GPU"
    TokenBytes "t" "bytes that a token's cache takes in a layer"
    Sequences "B" "sequences"
    StateBytes "s" "bytes of a sequence's state in a layer"
    TokenFlops "f" "FLOPs of all tokens in a layer"
}

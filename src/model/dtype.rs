//! Number formats of weights, activations and the KV cache, and the bytes that vLLM's estimator counts for each.

use super::origin::Origin;

/// The dtype that a model is served in: of activations, and of weights that no quantization covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dtype {
    /// 16 bits, 8 of exponent.
    BFloat16,
    /// 16 bits, 5 of exponent.
    Float16,
    /// 32 bits.
    Float32,
}

impl Dtype {
    /// The dtypes that a server can be told to use.
    pub const ALL: [Self; 3] = [Self::BFloat16, Self::Float16, Self::Float32];

    /// The name as configs and flags spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BFloat16 => "bfloat16",
            Self::Float16 => "float16",
            Self::Float32 => "float32",
        }
    }

    /// Bytes an element.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::BFloat16 | Self::Float16 => 2,
            Self::Float32 => 4,
        }
    }

    /// The dtype of that name, with the other spellings that occur (`torch.bfloat16`, `half`).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name.trim().trim_start_matches("torch.") {
            "bfloat16" => Some(Self::BFloat16),
            "float16" | "half" => Some(Self::Float16),
            "float32" | "float" => Some(Self::Float32),
            _ => None,
        }
    }
}

/// The dtype of a model, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedDtype {
    /// What the server uses when it is not told otherwise.
    pub dtype: Dtype,
    /// Where it came from.
    pub origin: Origin,
}

/// The formats of the KV cache, as `--kv-cache-dtype` names them.
pub const KV_CACHE_DTYPES: [&str; 15] = [
    "auto",
    "bfloat16",
    "float16",
    "float32",
    "fp8",
    "fp8_e4m3",
    "fp8_e5m2",
    "fp8_inc",
    "fp8_ds_mla",
    "fp8_per_token_head",
    "int8",
    "int8_per_token_head",
    "int4_per_token_head",
    "nvfp4",
    "mxfp4",
];

/// A format of the KV cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KvDtype(u8);

impl KvDtype {
    /// The model's dtype.
    pub const AUTO: Self = Self(0);

    /// The format of that name; `half` and `float` as people also write them.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = match name.trim() {
            "half" => "float16",
            "float" => "float32",
            name => name,
        };
        KV_CACHE_DTYPES.iter().position(|known| *known == name).and_then(|at| u8::try_from(at).ok()).map(Self)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        KV_CACHE_DTYPES.get(usize::from(self.0)).copied().unwrap_or("auto")
    }

    /// Bytes an element, as vLLM's estimator counts them: 1 for every format narrower than 16 bits.
    #[must_use]
    pub fn bytes(self, model: Dtype) -> u64 {
        match self.name() {
            "auto" => model.bytes(),
            "bfloat16" | "float16" => 2,
            "float32" => 4,
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_bytes_follow_the_estimator() {
        for name in KV_CACHE_DTYPES {
            assert_eq!(KvDtype::named(name).map(KvDtype::name), Some(name));
        }
        assert_eq!(KvDtype::named("fp7"), None);
        assert_eq!(KvDtype::AUTO.bytes(Dtype::Float32), 4);
        assert_eq!(KvDtype::named("nvfp4").map(|kv| kv.bytes(Dtype::BFloat16)), Some(1));
        assert_eq!(Dtype::named("torch.bfloat16"), Some(Dtype::BFloat16));
    }
}

//! Draws against numpy 2 itself, run outside of this project with the reference's rule.

use super::*;

#[track_caller]
fn draws(text: &str, (seed, amount, limit): (u64, f64, u64), expected: &[u64]) {
    let case = Case::parse(text).unwrap();
    let drawn = Jitter { amount, seed, max_model_len: Some(limit) }.draw(&case).unwrap();
    assert_eq!(drawn.iter().map(Request::kv).collect::<Vec<_>>(), expected);
}

#[test]
fn draws_are_numpys() {
    draws("decode=6*1@8192", (0, 0.5, 131_072), &[11622, 5233, 4199, 11442, 5050, 4800]);
    // A prefill draws nothing, so the decodes behind it get the first numbers.
    draws("mix=4096,3*1@100000,2048@10240c", (7, 0.25, 110_000), &[4096, 79268, 84348, 92296, 11988]);
    // A seed of two words, a name that is not ASCII, the cap and the prefix that is at least 1.
    draws("ü=8*1@9", ((1 << 40) + 3, 1.0, 12), &[12, 2, 7, 7, 8, 10, 5, 12]);
    draws(
        "big=3*1@35184372088832",
        (u64::MAX, 0.3, 1 << 53),
        &[34_395_589_270_600, 27_373_422_295_988, 38_851_921_269_716],
    );
}

#[test]
fn without_jitter_nothing_changes() {
    draws("verify=2*4@4096:3,8192@40960c", (9, 0.0, 40_960), &[4096, 4096, 40960]);
}

#[test]
fn a_name_that_is_the_text_seeds_too() {
    let jitter = Jitter { max_model_len: Some(131_072), ..Jitter::default() };
    let named = |text: &str| jitter.draw(&Case::parse(text).unwrap()).unwrap();
    assert_ne!(named("64*1@8192"), named("x=64*1@8192"));
    assert_eq!(named("64*1@8192"), named("64*1@8192=64*1@8192"));
}

#[test]
fn merging_equal_neighbours_first_changes_no_draw() {
    let case = Case::parse("a=1@9000,1@9000,4@4096:3,2*4@4096:3").unwrap();
    assert_eq!(Jitter::default().draw(&case), Jitter::default().draw(&case.compress()));
    assert_eq!(Jitter::default().case(&case).map(|case| case.totals()), Ok(case.totals()));
}

#[test]
fn what_cannot_be_drawn_says_why() {
    let error = |text: &str, jitter: Jitter| jitter.draw(&Case::parse(text).unwrap()).unwrap_err().to_string();
    let exact = Jitter { amount: 0.0, seed: 0, max_model_len: Some(40_960) };
    let errors = [
        error("long=4096,64*1@131072", exact),
        error("1@2", Jitter { amount: 1.5, ..exact }),
        error("1@2", Jitter { amount: f64::NAN, ..exact }),
        error("1000001*1@2", exact),
        error("1@9007199254740992", Jitter { amount: 1.0, seed: 1, max_model_len: None }),
    ];
    insta::assert_snapshot!(errors.join("\n"), @r"
    Request 2 of case `long`, `64*1@131072`, has a KV length above max-model-len 40960; expected at most 40960.
    The jitter is 1.5; expected 0 to 1, the part of a prefix that its length varies by.
    The jitter is NaN; expected 0 to 1, the part of a prefix that its length varies by.
    The case has 1000001 requests; expected at most 1000000 to draw a KV length for each.
    Request 1: The KV length is too large; expected at most 9007199254740992.
    ");
}

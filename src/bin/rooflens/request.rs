//! Requests on the command line, one kind at a time.

use rooflens::batch::case::LARGEST_COUNT;
use rooflens::batch::count::parse_count;
use rooflens::batch::{Group, Phase};
use rooflens::format::quoted;

/// Reads `[COUNT*]N,C,PHASE`.
pub(crate) fn parse(text: &str) -> Result<Group, String> {
    let (count, one) = text.split_once('*').map_or((None, text), |(count, one)| (Some(count), one));
    let [tokens, context, phase] = *one.split(',').collect::<Vec<_>>() else {
        return Err("Expected new tokens, KV length and phase between commas, as in `1,8192,decode`.".to_owned());
    };
    let number = |text: &str, what: &str| match parse_count(text) {
        Ok(number) => Ok(number),
        Err(error) => Err(format!("The {what} cannot be read: {error}")),
    };
    let count = count.map_or(Ok(1), |count| number(count, "number of requests"))?;
    let (tokens, context) = (number(tokens, "number of new tokens")?, number(context, "KV length")?);
    let phase = match phase.trim() {
        "prefill" => Phase::Prefill,
        "decode" => Phase::Decode,
        other => return Err(format!("The phase is {}; expected prefill or decode.", quoted(other))),
    };
    if count == 0 || count > LARGEST_COUNT {
        return Err(format!("The number of requests is {count}; expected 1 to {LARGEST_COUNT}."));
    }
    if tokens == 0 {
        return Err("The number of new tokens is 0; expected at least 1.".to_owned());
    }
    if tokens > context {
        return Err(format!(
            "The KV length {context} is shorter than the {tokens} new tokens that it includes; expected at least {tokens}."
        ));
    }
    Ok(Group { count, tokens, context, phase })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_with_and_without_a_count() {
        let group = |count, tokens, context, phase| Ok(Group { count, tokens, context, phase });
        assert_eq!(parse("1,8192,decode"), group(1, 1, 8192, Phase::Decode));
        assert_eq!(parse(" 32 * 1 , 8Ki , decode "), group(32, 1, 8192, Phase::Decode));
        assert_eq!(parse("2k,2k,prefill"), group(1, 2000, 2000, Phase::Prefill));
    }

    #[track_caller]
    fn fails(text: &str, part: &str) {
        let error = parse(text).unwrap_err();
        assert!(error.contains(part), "{error}");
    }

    #[test]
    fn what_is_no_request() {
        fails("", "between commas");
        fails("1,8,192,decode", "between commas");
        fails("0,8,decode", "new tokens is 0");
        fails("9,8,decode", "shorter than the 9 new tokens");
        fails("1,8,verify", "expected prefill or decode");
        fails("0*1,8,decode", "number of requests is 0");
        fails("2G*1,8,decode", "number of requests is 2000000000");
        fails("x,8,decode", "number of new tokens cannot be read: `x` is not a number");
        fails("1,1e99,decode", "KV length cannot be read: `1e99` is too large");
    }
}

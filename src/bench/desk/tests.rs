use super::*;
use crate::bench::context::{Estimated, example};
use crate::json::Node;

fn desk(context: &Context) -> (Desk, String) {
    let mut desk = Desk::default();
    let reply = desk.context(&context.write().to_compact()).write().to_compact();
    (desk, reply)
}

fn block(reply: &Node, id: &str) -> Option<String> {
    let blocks = reply.get("blocks")?.items()?;
    let found = blocks.iter().filter_map(Node::items).find(|pair| pair[0].text() == Some(id))?;
    found[1].text().map(str::to_owned)
}

#[test]
fn the_shell_has_a_place_for_everything_that_is_shown_and_set() {
    for key in Run::KEYS {
        assert!(shell().contains(&format!("data-field=\"{key}\"")), "{key}");
    }
    let (_, reply) = desk(&example());
    let reply = crate::json::parse(&reply).unwrap().root;
    for pair in reply.get("blocks").and_then(Node::items).unwrap() {
        let id = pair.items().and_then(|pair| pair[0].text()).unwrap();
        assert!(shell().contains(&format!("data-block=\"{id}\"")), "{id}");
    }
}

#[test]
fn the_command_follows_the_page_and_only_changes_are_sent() {
    let mut context = example();
    let (mut desk, first) = desk(&context);
    let first = crate::json::parse(&first).unwrap().root;
    assert!(block(&first, "command").unwrap().contains("torchrun --nproc-per-node=8"));
    let wanted = first.get("wanted").and_then(Node::items).unwrap();
    assert_eq!(wanted[0].text(), Some("mix=8192,32*1@8192"));
    assert!(wanted[1].text().unwrap().starts_with("mix=8192,1@7318,1@8493,1@6877,1@7164,"), "numpy's first draws");
    // What was wanted comes with the next context, and only the block that it is for changes.
    let estimated = Estimated { flops: 2_000_000, read: 1000, write: 24 };
    context.estimates = wanted.iter().map(|case| (case.text().unwrap().to_owned(), Some(estimated))).collect();
    let next = desk.context(&context.write().to_compact()).write();
    assert_eq!(next.get("blocks").and_then(Node::items).map(<[Node]>::len), Some(1));
    assert!(block(&next, "jitter").unwrap().contains(">2.00 MFLOP<"), "{:?}", block(&next, "jitter"));
    assert!(next.get("wanted").is_none());
    context.run.jitter.amount = 0.0;
    let exact = desk.context(&context.write().to_compact()).write();
    assert_eq!(block(&exact, "jitter").as_deref(), Some(""));
}

#[test]
fn a_setting_that_is_none_is_said_and_kept() {
    let (mut desk, _) = desk(&example());
    let wrong = desk.field("kv_len_jitter", "2").write();
    assert!(block(&wrong, "run-problem").unwrap().contains("kv-len-jitter: Found `2`; expected a number from 0 to 1."));
    assert!(wrong.get("set").is_none());
    // An unrelated context leaves what is typed alone.
    let same = desk.context(&example().write().to_compact()).write().to_compact();
    assert!(!same.contains("[\"kv_len_jitter\""), "{same}");
    let right = desk.field("kv_len_jitter", "0.2").write();
    assert_eq!(block(&right, "run-problem").as_deref(), Some(""));
    assert_eq!(right.get("set").unwrap().to_compact(), r#"[["kv_len_jitter","0.2"]]"#);
}

#[test]
fn commands_cases_and_shapes_files_are_taken_over() {
    let (mut desk, _) = desk(&example());
    let command = desk.act("copy-command").write();
    let text = command.get("copy").and_then(Node::items).unwrap()[1].text().unwrap().to_owned();
    desk.field("pasted", &text.replace("-size 8", "-size 4").replace("node=8", "node=4"));
    let taken = desk.act("take").write();
    assert_eq!(taken.get("cases").unwrap().to_compact(), r#"["mix=8192,32*1@8192"]"#);
    assert_eq!(
        taken.get("apply").unwrap().to_compact(),
        r#"[["source","deepseek-ai/DeepSeek-V3"],["tp","4"],["pp","1"],["dp","1"],["ep","false"],["quantization","auto"],["kv_cache","auto"],["dtype","auto"]]"#
    );
    desk.field("pasted", "a=1@8\n\n b=16*4@4096:3 ");
    assert_eq!(desk.act("take").write().get("cases").unwrap().to_compact(), r#"["a=1@8","b=16*4@4096:3"]"#);
    let yaml = desk.act("shapes-yaml").write();
    let yaml = yaml.get("save").and_then(Node::items).unwrap()[1].text().unwrap().to_owned();
    desk.text(&yaml);
    assert_eq!(desk.act("take").write().get("cases").unwrap().to_compact(), r#"["mix=8192,32*1@8192"]"#);
    let wrong = desk.field("pasted", "a=1@8\n1@0").write();
    assert!(block(&wrong, "pasted").unwrap().contains("Line 2: Request 1"));
    assert!(desk.act("take").write().get("cases").is_none());
}

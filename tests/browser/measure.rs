//! How long an edit takes until it is painted.

use crate::page::Page;
use serde_json::{Value, json};

/// One edit, in milliseconds. Browsers round their clock to 0.1 ms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit {
    /// From before the edit's event to after the next frame was produced, the wait for that frame included: between
    /// `busy` and one frame (16.7 ms at 60 Hz) more. What a person waits.
    pub(crate) repaint: f64,
    /// The part of it in which the main thread works: the event's handlers with the microtasks they queue (signals,
    /// memos, effects), and the frame (animation callbacks, style, layout, paint, commit). What must fit into a frame.
    /// Timers and other tasks between the two count in `repaint` only; rasterising on other threads in neither.
    pub(crate) busy: f64,
}

impl Page {
    /// Makes `count` edits one after the other, each in a fresh frame, and measures each. `edit` is the body of a
    /// function of `i`, from 0, that changes something and fires its event, such as
    /// `const f = document.querySelector('#tp'); f.value = 1 + i % 2; f.dispatchEvent(new Event('input', {bubbles: true}))`.
    #[track_caller]
    pub(crate) fn measure_edit(&self, edit: &str, count: usize) -> Vec<Edit> {
        let script = format!(
            "const edit = (i) => {{ {edit} }};
            const [count] = arguments;
            const task = () => new Promise((done) => {{
                const channel = new MessageChannel();
                channel.port1.onmessage = () => done(performance.now());
                channel.port2.postMessage(null);
            }});
            const frame = () => new Promise((done) => requestAnimationFrame(() => done(performance.now())));
            const edits = [];
            for (let i = 0; i < count; i++) {{
                // Two frames of rest: an earlier edit's work is over, and the frame timer is awake.
                await frame();
                await frame();
                await task();
                // Asked for before the edit, so that both come before and after all that the edit asks for itself:
                // the first task after the handlers and their microtasks, and the first callback of the next frame.
                const drawn = new Promise((done) => requestAnimationFrame(() => {{
                    const begun = performance.now();
                    task().then((ended) => done([begun, ended]));
                }}));
                const handled = task();
                const start = performance.now();
                edit(i);
                const quiet = await handled;
                const [begun, ended] = await drawn;
                edits.push([ended - start, quiet - start + ended - begun]);
            }}
            return edits;"
        );
        let measured = self.execute_async(&script, &json!([count]));
        let edits = measured.as_array().expect("a list").iter();
        let number = |edit: &Value, at: &str| edit.pointer(at).and_then(Value::as_f64).expect("a number");
        edits.map(|edit| Edit { repaint: number(edit, "/0"), busy: number(edit, "/1") }).collect()
    }
}

/// The middle value; of an even count, the higher of the two in the middle.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().expect("at least one value")
}

#[test]
fn a_busy_edit_measures_as_long_as_it_is_busy() {
    let page = Page::open("");
    let spin = "const end = performance.now() + 20; while (performance.now() < end);";
    let edits = page.measure_edit(spin, 5);
    let (repaint, busy) = (median(edits.iter().map(|edit| edit.repaint)), median(edits.iter().map(|edit| edit.busy)));
    assert_eq!(edits.len(), 5);
    assert!((20.0..60.0).contains(&busy), "{edits:?}");
    assert!(repaint >= busy - 0.2, "{edits:?}");
}

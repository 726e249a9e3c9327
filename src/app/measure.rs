//! The measuring desk's place on the page, and the way to its worker.
//!
//! The worker starts a moment after the first paint, or at once when something is brought that is for it. It answers with markup for the
//! blocks of its shell, made with every text escaped, and with what the page is to do.

use super::facts::Facts;
use super::html::{changed, spawn};
use super::state::{Answers, State};
use crate::batch::case::Case;
use crate::estimate::Method;
use crate::json::{Node, parse_up_to};
use crate::layout::Layout;
use crate::model::{Dtype, KvDtype};
use crate::report::charts::Measured;
use crate::scenario::Size;
use crate::scenario::state::{Comparison, ModelChoice, Section};
use crate::settings::QuantizationChoice;
use leptos::prelude::*;
use std::sync::Arc;
use std::time::Duration;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};

/// How long the desk waits after an edit.
const PAUSE: Duration = Duration::from_millis(120);

/// The worker, and what is to be said to it once it listens.
#[derive(Clone, Debug, Default)]
pub(super) struct Desk {
    worker: Option<web_sys::Worker>,
    ready: bool,
    queue: Vec<js_sys::Array>,
    /// The memory of the headline figures, and what it is exactly.
    memory: Option<(String, String)>,
    /// The comparison that the physical model counts now.
    asked: Option<Arc<Comparison>>,
    /// Markup of blocks that are folded away: it is put in when they are unfolded.
    folded: Vec<(String, String)>,
}

/// How long the desk waits after the first paint, which it must not slow down.
const LATER: Duration = Duration::from_millis(400);

/// The physical model's part.
#[component]
pub(super) fn Physics(state: State) -> impl IntoView {
    follow(state);
    super::html::follow(move || {
        state.comparison.track();
        count(state);
    });
    super::html::follow(move || {
        if matches!(Facts::clone(&state.facts.now()), Facts::Ready(_)) {
            set_timeout(move || open(state), LATER);
        }
    });
    view! {
        <section class="card desk-part" id="physical">
            <h2>"Physical model: what the hardware has to do"</h2>
            <div id="physics" on:click=pressed(state) on:input=typed(state)>
                <p class="hint">"Loading."</p>
            </div>
        </section>
    }
}

/// The place of measurements.
#[component]
pub(super) fn Panel(state: State) -> impl IntoView {
    view! {
        <details class="card foldable" id="measure">
            <summary><h2>"Measure, and read measurements back"</h2></summary>
            <div id="desk" on:click=pressed(state) on:input=typed(state)>
                <p class="hint">"Loading."</p>
            </div>
            <input type="file" id="desk-files" multiple hidden on:change=changed(move |event| chosen(state, &event))/>
        </details>
    }
}

fn pressed(state: State) -> Box<dyn FnMut(web_sys::MouseEvent)> {
    super::html::pressed(move |event| act(state, &event))
}

fn typed(state: State) -> Box<dyn FnMut(web_sys::Event)> {
    changed(move |event| field(state, &event))
}

/// Starts the worker, once.
fn open(state: State) {
    if state.desk.with_value(|desk| desk.worker.is_some()) {
        return;
    }
    // The page's own script knows where the worker is, as the single file holds it inside.
    let starter = js_sys::Reflect::get(&window(), &JsValue::from_str("openDesk"));
    let starter = starter.ok().and_then(|starter| starter.dyn_into::<js_sys::Function>().ok());
    let started = starter.and_then(|starter| starter.call0(&JsValue::NULL).ok());
    spawn(async move {
        let started = match started {
            Some(promise) => wasm_bindgen_futures::JsFuture::from(js_sys::Promise::resolve(&promise)).await.ok(),
            None => None,
        };
        let Some(worker) = started.and_then(|worker| worker.dyn_into::<web_sys::Worker>().ok()) else {
            return failed(state);
        };
        let heard = move |event: web_sys::MessageEvent| match event.data().as_string() {
            Some(message) => heard(state, &message),
            None => begun(state, &event.data()),
        };
        let heard = Closure::<dyn FnMut(web_sys::MessageEvent)>::new(heard);
        worker.set_onmessage(Some(heard.as_ref().unchecked_ref()));
        heard.forget();
        let broken = Closure::<dyn FnMut(JsValue)>::new(move |_| failed(state));
        worker.set_onerror(Some(broken.as_ref().unchecked_ref()));
        broken.forget();
        state.desk.update_value(|desk| desk.worker = Some(worker));
    });
}

fn failed(state: State) {
    state.view.update(|view| view.answers.failed = true);
    for host in HOSTS.iter().filter_map(|id| document().get_element_by_id(id)) {
        host.set_text_content(Some(
            "This part did not load, or has stopped. What vLLM counts is not touched by that; reload to try again.",
        ));
    }
}

/// Where the desk has its places; what stands there is in the page's HTML, under the name with `-shell`.
const HOSTS: [&str; 2] = ["desk", "physics"];

/// Says something to the worker, or keeps it until it listens.
fn send(state: State, parts: &[&JsValue]) {
    let message: js_sys::Array = parts.iter().copied().cloned().collect();
    state.desk.update_value(|desk| match &desk.worker {
        Some(worker) if desk.ready => {
            let _ = worker.post_message(&message);
        }
        _ => desk.queue.push(message),
    });
}

fn say(state: State, parts: &[&str]) {
    let parts: Vec<JsValue> = parts.iter().map(|part| JsValue::from_str(part)).collect();
    send(state, &parts.iter().collect::<Vec<_>>());
}

/// Says that files are brought together.
pub(super) fn begin(state: State) {
    if state.desk.with_value(|desk| desk.ready) {
        say(state, &["begin"]);
    }
}

/// Brings a file to the desk, which shows itself.
pub(super) fn bring(state: State, file: &web_sys::File) {
    unfold(state);
    send(state, &[&JsValue::from_str("file"), file]);
}

/// Brings a text.
pub(super) fn bring_text(state: State, text: &str) {
    unfold(state);
    say(state, &["text", text]);
}

/// The memory of the headline figures, and what it is exactly, once that is known.
pub(super) fn memory(state: State) -> Option<(String, String)> {
    state.desk.with_value(|desk| desk.memory.clone())
}

fn unfold(state: State) {
    if let Some(details) = document().get_element_by_id("measure") {
        let _ = details.set_attribute("open", "");
        details.scroll_into_view();
    }
    open(state);
}

fn chosen(state: State, event: &web_sys::Event) {
    let input = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok());
    let Some((input, files)) = input.and_then(|input| input.files().map(|files| (input, files))) else { return };
    begin(state);
    (0..files.length()).filter_map(|at| files.get(at)).for_each(|file| bring(state, &file));
    // The same file may be chosen again.
    input.set_value("");
}

fn act(state: State, event: &web_sys::Event) {
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    let actor = target.and_then(|element| element.closest("[data-act]").ok().flatten());
    match actor.and_then(|element| element.get_attribute("data-act")).as_deref() {
        Some("choose") => {
            let input = document().get_element_by_id("desk-files");
            if let Some(input) = input.and_then(|input| input.dyn_into::<web_sys::HtmlElement>().ok()) {
                input.click();
            }
        }
        Some(act) => say(state, &["act", act]),
        None => {}
    }
}

fn field(state: State, event: &web_sys::Event) {
    let Some(element) = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok()) else { return };
    let Some(name) = element.get_attribute("data-field") else { return };
    let read = |key: &str| js_sys::Reflect::get(&element, &JsValue::from_str(key)).unwrap_or_default();
    let is_box = element.get_attribute("type").as_deref() == Some("checkbox");
    let value =
        if is_box { read("checked").is_truthy().to_string() } else { read("value").as_string().unwrap_or_default() };
    say(state, &["field", &name, &value]);
}

/// Tells the desk what is selected, a moment after it changes.
fn follow(state: State) {
    let waiting = StoredValue::new(None::<TimeoutHandle>);
    super::html::follow(move || {
        state.outcomes.track();
        state.comparison.track();
        state.scenario.track();
        if !state.desk.with_value(|desk| desk.ready) {
            return;
        }
        if let Some(timer) = waiting.get_value() {
            timer.clear();
        }
        waiting.set_value(set_timeout_with_handle(move || tell(state), PAUSE).ok());
    });
}

/// Asks what the physical model counts, where that is what is shown: one question at a time, the newest next.
fn count(state: State) {
    let now = state.comparison.now_untracked();
    let known = state.view.now_untracked().answers.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, &now));
    if now.method == Method::Vllm || known || state.desk.with_value(|desk| !desk.ready || desk.asked.is_some()) {
        return;
    }
    let Facts::Ready(facts) = Facts::clone(&state.facts.now_untracked()) else { return };
    say(state, &["count", &crate::scenario::file::to_file(&now, &facts.presets)]);
    state.desk.update_value(|desk| desk.asked = Some(now));
}

/// Takes what the physical model counted.
fn counted(state: State, answers: &Node) {
    let of = state.desk.try_update_value(|desk| desk.asked.take()).flatten();
    let Some(found) = crate::report::answer::read(answers) else { return failed(state) };
    state.view.update(|view| view.answers = Answers { of, found, ..Answers::default() });
    count(state);
}

/// What is selected, as a file holds it.
fn tell(state: State) {
    let Facts::Ready(facts) = Facts::clone(&state.facts.now_untracked()) else { return };
    let id = state.id();
    let (file, place) = state.comparison.with_untracked(|comparison| {
        (crate::scenario::file::to_file(comparison, &facts.presets), comparison.place(id).unwrap_or_default())
    });
    let names = untrack(move || super::scenarios::names(state));
    let names = names.iter().enumerate().map(|(place, name)| super::compare::heading(place, &name.replace('\n', " ")));
    say(state, &["select", &file, &place.to_string(), &names.collect::<Vec<_>>().join("\n")]);
}

/// Sets up the desk's places, and begins to talk.
fn begun(state: State, options: &JsValue) {
    let options: js_sys::Array = options.clone().unchecked_into();
    let options = options.get(0).as_string().unwrap_or_default();
    for id in HOSTS {
        let [host, shell] = [id, &format!("{id}-shell")].map(|id| document().get_element_by_id(id));
        if let (Some(host), Some(shell)) = (host, shell) {
            host.set_inner_html(&shell.inner_html().replace("%formats%", &options));
        }
    }
    state.desk.update_value(|desk| desk.ready = true);
    // The event does not bubble, but it can be caught on its way down.
    let run = Closure::<dyn FnMut(web_sys::Event)>::new(move |event| {
        act(state, &event);
        unfolded(state);
    });
    let _ = document().add_event_listener_with_callback_and_bool("toggle", run.as_ref().unchecked_ref(), true);
    run.forget();
    count(state);
    tell(state);
    let queue = state.desk.try_update_value(|desk| std::mem::take(&mut desk.queue)).unwrap_or_default();
    for message in queue {
        send(state, &message.iter().collect::<Vec<_>>().iter().collect::<Vec<_>>());
    }
}

/// The longest answer that is read: far beyond what can be looked at.
const MOST: usize = 256 << 20;

/// The element of the desk's with an attribute of that value. Names of blocks and fields are its own, without quotes.
fn part(attribute: &str, name: &str) -> Option<web_sys::Element> {
    document().query_selector(&format!("[{attribute}=\"{name}\"]")).ok().flatten()
}

/// Puts markup into a block, or keeps it until the block can be seen.
fn put(state: State, name: String, markup: String) {
    let Some(block) = part("data-block", &name) else { return };
    if block.closest("details:not([open])").ok().flatten().is_none() {
        return super::html::replace(&block, &markup);
    }
    state.desk.update_value(|desk| {
        desk.folded.retain(|(known, _)| *known != name);
        desk.folded.push((name, markup));
    });
}

/// Puts in what was kept, now that something was unfolded.
fn unfolded(state: State) {
    let kept = state.desk.try_update_value(|desk| std::mem::take(&mut desk.folded)).unwrap_or_default();
    for (name, markup) in kept {
        put(state, name, markup);
    }
}

/// Does what the desk says.
fn heard(state: State, message: &str) {
    let Ok(document) = parse_up_to(message, MOST) else {
        return state.say("What came back is too large to show.");
    };
    let reply = document.root;
    if let Some(answers) = reply.get("answers") {
        counted(state, answers);
    }
    for (name, markup) in pairs(&reply, "blocks") {
        put(state, name, markup);
    }
    if reply.get("wrong").is_some() {
        let wrong = texts(&reply, "wrong");
        for key in crate::bench::run::Run::KEYS {
            if let Some(field) = part("data-field", key) {
                let _ = field
                    .set_attribute("aria-invalid", if wrong.iter().any(|one| one == key) { "true" } else { "false" });
            }
        }
    }
    for (name, value) in pairs(&reply, "values") {
        show_value(&name, &value);
    }
    let (set, apply) = (pairs(&reply, "set"), pairs(&reply, "apply"));
    let cases: Vec<Case> = texts(&reply, "cases").iter().filter_map(|text| Case::parse(text).ok()).collect();
    take_over(state, &set, &apply, cases);
    if let [name, case] = texts(&reply, "scenario").as_slice()
        && let Ok(case) = Case::parse(case)
    {
        add(state, name, case);
    }
    if let Some(points) = reply.get("points").and_then(Node::items) {
        let point = |node: &Node| match node.items()? {
            [label, intensity, rate] => {
                let number = |node: &Node| crate::decimal::parse(node.text()?);
                Some(Measured { label: label.text()?.to_owned(), intensity: number(intensity)?, rate: number(rate)? })
            }
            _ => None,
        };
        let points: Vec<Measured> = points.iter().filter_map(point).collect();
        if state.view.with_untracked(|view| view.measured != points) {
            state.view.update(|view| view.measured = points);
        }
    }
    if let [_, content] = texts(&reply, "copy").as_slice() {
        super::link::copy(state, "Command", content);
    }
    if let [name, content] = texts(&reply, "save").as_slice() {
        super::export::download(name, "text/plain", content);
    }
    if let [text, title] = texts(&reply, "tile").as_slice() {
        state.desk.update_value(|desk| desk.memory = Some((text.clone(), title.clone())));
        super::tiles::set_memory(text, title);
    }
    if let Some(said) = reply.get("say").and_then(Node::text) {
        state.say(said);
    }
}

fn texts(reply: &Node, key: &str) -> Vec<String> {
    let items = reply.get(key).and_then(Node::items).unwrap_or_default();
    items.iter().filter_map(|node| node.text().map(str::to_owned)).collect()
}

fn pairs(reply: &Node, key: &str) -> Vec<(String, String)> {
    let items = reply.get(key).and_then(Node::items).unwrap_or_default();
    let pair = |node: &Node| match node.items()? {
        [a, b] => Some((a.text()?.to_owned(), b.text()?.to_owned())),
        _ => None,
    };
    items.iter().filter_map(pair).collect()
}

/// Puts a text into a field, unless somebody is typing there.
fn show_value(name: &str, value: &str) {
    let Some(field) = part("data-field", name) else { return };
    if document().active_element().as_ref() == Some(&field) {
        return;
    }
    // What was pasted elsewhere is shown where it went.
    if name == "pasted"
        && let Some(folded) = field.closest("details").ok().flatten()
    {
        let _ = folded.set_attribute("open", "");
    }
    let is_box = field.get_attribute("type").as_deref() == Some("checkbox");
    let (key, value) = if is_box { ("checked", JsValue::from_bool(value == "true")) } else { ("value", value.into()) };
    let _ = js_sys::Reflect::set(&field, &JsValue::from_str(key), &value);
}

/// Takes settings of the run, inputs and cases over, as one step.
fn take_over(state: State, set: &[(String, String)], apply: &[(String, String)], cases: Vec<Case>) {
    if set.is_empty() && apply.is_empty() && cases.is_empty() {
        return;
    }
    let id = state.id();
    let source = |name: &str| {
        state.facts.with_untracked(|facts| match facts {
            Facts::Ready(ready) => ready.presets.iter().find(|p| p.source == name).map(|p| p.id.clone()),
            _ => None,
        })
    };
    // Each field is a step of its own to undo.
    let field = set.first().and_then(|(key, _)| crate::bench::run::Run::known(key)).unwrap_or("measure");
    state.change(field, |comparison| {
        for (key, value) in set {
            // The desk has said what is wrong with a text that is no setting.
            let _ = comparison.run.set(key, value);
        }
        if !cases.is_empty() {
            comparison.edit(id, Section::Batch, |scenario| {
                scenario.cases = cases;
                scenario.active = 0;
            });
        }
        for (key, value) in apply {
            match key.as_str() {
                "source" => {
                    if let Some(preset) = source(value) {
                        comparison.edit(id, Section::Model, |s| s.model = ModelChoice::Preset(preset));
                    }
                }
                "quantization" => {
                    let choice = QuantizationChoice::named(value);
                    comparison.edit(id, Section::Precision, |scenario| scenario.quantization = choice);
                }
                "kv_cache" => {
                    let kv = KvDtype::named(value).unwrap_or_default();
                    comparison.edit(id, Section::Precision, |scenario| scenario.kv_cache = kv);
                }
                "dtype" => {
                    let dtype = Dtype::named(value);
                    comparison.edit(id, Section::Precision, |scenario| scenario.dtype = dtype);
                }
                _ => comparison.edit(id, Section::Layout, |scenario| resize(&mut scenario.layout, key, value)),
            }
        }
    });
}

fn resize(layout: &mut Layout, key: &str, value: &str) {
    let size = [Size::Tp, Size::Pp, Size::Dp].into_iter().find(|size| size.label().eq_ignore_ascii_case(key));
    match size {
        Some(size) => {
            if let Ok(value) = size.read(value) {
                size.set(layout, value);
            }
        }
        None => layout.ep = value == "true",
    }
}

/// Adds a copy of the selected scenario with one case.
fn add(state: State, name: &str, case: Case) {
    let id = state.id();
    let count = || state.comparison.with_untracked(|comparison| comparison.scenarios().len());
    let before = count();
    state.change("measure", |comparison| {
        if let Some(new) = comparison.duplicate(id) {
            comparison.share(Section::Batch, id, false);
            comparison.edit(new, Section::Batch, |scenario| {
                scenario.cases = vec![case];
                scenario.active = 0;
            });
            comparison.rename(new, name);
        }
    });
    state.say(if count() > before { "Added as a scenario." } else { "There are eight scenarios: remove one first." });
}

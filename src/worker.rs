//! The measuring desk in a worker of the page: messages in, JSON out. What is decided is decided in [`crate::bench::desk`].
//!
//! A message is an array whose first item says what it is: `facts` with the texts of `classes.json`, `presets.json`
//! and `served-tpot.csv`, `select` with a comparison as JSON, a place and names, `count` with a comparison as JSON,
//! `field` with a name and a text, `act` with what was clicked, `text` with what was pasted, `begin` before files that
//! come together, `file` with a file. The first answer is the one that is no text: the options of a field.

use crate::bench::desk::{Desk, Reply, Taken, format_options};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::DedicatedWorkerGlobalScope as Scope;

type Shared = Rc<RefCell<Desk>>;

/// Listens, and says so.
pub fn start() {
    crate::panics::show();
    let Ok(scope) = js_sys::global().dyn_into::<Scope>() else { return };
    let desk: Shared = Rc::default();
    let (listening, of_messages) = (scope.clone(), desk);
    let heard = move |event: web_sys::MessageEvent| {
        if let Ok(parts) = event.data().dyn_into::<js_sys::Array>() {
            heard(&listening, &of_messages, &parts);
        }
    };
    let heard = Closure::<dyn FnMut(web_sys::MessageEvent)>::new(heard);
    scope.set_onmessage(Some(heard.as_ref().unchecked_ref()));
    heard.forget();
    let _ = scope.post_message(&js_sys::Array::of1(&JsValue::from_str(&format_options())));
}

fn heard(scope: &Scope, desk: &Shared, parts: &js_sys::Array) {
    let text = |at: u32| parts.get(at).as_string().unwrap_or_default();
    if let Ok(file) = parts.get(1).dyn_into::<web_sys::File>() {
        let (scope, desk) = (scope.clone(), desk.clone());
        wasm_bindgen_futures::spawn_local(async move { read(&scope, &desk, &file).await });
        return;
    }
    // Nothing is held across a message, so nobody else holds it.
    let Ok(mut desk) = desk.try_borrow_mut() else { return };
    let reply = match text(0).as_str() {
        "facts" => return desk.facts(&text(1), &text(2), text(3)),
        "select" => desk.select(&text(1), text(2).parse().unwrap_or_default(), &text(3)),
        "count" => desk.count(&text(1)),
        "field" => desk.field(&text(1), &text(2)),
        "act" => desk.act(&text(1)),
        "text" => desk.text(&text(1)),
        "begin" => return desk.begin(),
        _ => return,
    };
    drop(desk);
    post(scope, reply);
}

fn post(scope: &Scope, reply: Reply) {
    let _ = scope.post_message(&JsValue::from_str(&reply.write().to_compact()));
}

/// Reads a file piece by piece; how far it is is said now and then.
async fn read(scope: &Scope, desk: &Shared, file: &web_sys::File) {
    const SAID_EACH: f64 = 150.0;
    let name = file.name();
    let mut taken = Taken::new(&name, file.size());
    let mut said = js_sys::Date::now();
    let reader: web_sys::ReadableStreamDefaultReader = file.stream().get_reader().unchecked_into();
    loop {
        let Ok(read) = JsFuture::from(reader.read()).await else {
            taken.fail("it could not be read to its end");
            break;
        };
        let value = js_sys::Reflect::get(&read, &JsValue::from_str("value")).unwrap_or(JsValue::UNDEFINED);
        let Ok(piece) = value.dyn_into::<js_sys::Uint8Array>() else { break };
        if !taken.push(&piece.to_vec()) {
            let _ = reader.cancel();
            break;
        }
        let now = js_sys::Date::now();
        if now - said > SAID_EACH {
            said = now;
            if let Ok(mut desk) = desk.try_borrow_mut() {
                post(scope, desk.progress(&taken));
            }
        }
    }
    if let Ok(mut desk) = desk.try_borrow_mut() {
        let reply = desk.file(taken);
        drop(desk);
        post(scope, reply);
    }
}

//! The page under test: its server, its browser, and what a person does with it.

use crate::server::{SUB_PATH, Server};
use crate::webdriver::{ELEMENT, Session};
use base64::Engine;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long anything may take that a test waits for.
const PATIENCE: Duration = Duration::from_secs(10);

/// How a page is opened.
#[derive(Clone, Copy, Default)]
pub(crate) struct Options<'a> {
    /// Paths that end so answer 404.
    pub(crate) missing: &'a [&'a str],
    /// Runs in the page before any of its own scripts.
    pub(crate) before: Option<&'a str>,
    /// Switches scripts off. Then only `accessible_text` and `screenshot` see the page.
    pub(crate) no_script: bool,
}

/// A page in a browser of its own. Dropping it ends the browser, its driver and the server.
pub(crate) struct Page {
    pub(crate) session: Session,
    server: Server,
    console: RefCell<Vec<Value>>,
    requests: RefCell<Vec<String>>,
}

impl Page {
    /// Opens `path` (a fragment such as `#...`, or nothing) and waits until the app runs.
    #[track_caller]
    pub(crate) fn open(path: &str) -> Self {
        let page = Self::open_with(path, Options::default());
        page.wait_until("document.documentElement.dataset.app === 'ready'", PATIENCE);
        page
    }

    /// Opens `path` and waits for its `load` event only.
    #[track_caller]
    pub(crate) fn open_with(path: &str, options: Options) -> Self {
        let server = Server::start(&dist(), options.missing);
        let (console, requests) = (RefCell::default(), RefCell::default());
        let page = Self { session: Session::start(), server, console, requests };
        if let Some(source) = options.before {
            page.session.devtools("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": source }));
        }
        if options.no_script {
            page.session.devtools("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
        }
        page.go(path);
        page
    }

    /// Goes to `path` under the page's folder, in the same browser: what is stored there stays.
    #[track_caller]
    pub(crate) fn go(&self, path: &str) {
        self.session.post("url", &json!({ "url": self.url(path) }));
    }

    /// The address of `path` under the page's folder.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{SUB_PATH}{path}", self.server.origin())
    }

    /// The address that the browser shows.
    pub(crate) fn address(&self) -> String {
        self.session.get("url").as_str().expect("text").to_owned()
    }

    /// The title that the browser shows.
    pub(crate) fn title(&self) -> String {
        self.session.get("title").as_str().expect("text").to_owned()
    }

    // What is there

    /// The first element that `css` selects, waited for; an element as `execute` takes it.
    #[track_caller]
    pub(crate) fn find(&self, css: &str) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.session.try_post("element", &json!({ "using": "css selector", "value": css })) {
                Ok(element) => return element,
                Err(error) if Instant::now() > end => panic!("nothing is `{css}`: {error}"),
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// How many elements `css` selects now.
    #[track_caller]
    pub(crate) fn count(&self, css: &str) -> usize {
        let found = self.session.post("elements", &json!({ "using": "css selector", "value": css }));
        found.as_array().map_or(0, Vec::len)
    }

    /// The text that a person sees in the first element that `css` selects.
    #[track_caller]
    pub(crate) fn text(&self, css: &str) -> String {
        let text = self.session.get(&format!("element/{}/text", self.id(css)));
        text.as_str().expect("text").to_owned()
    }

    /// The value of a field.
    #[track_caller]
    pub(crate) fn value(&self, css: &str) -> String {
        let value = self.session.get(&format!("element/{}/property/value", self.id(css)));
        value.as_str().unwrap_or_else(|| panic!("`{css}` has no value")).to_owned()
    }

    /// All text that the page offers to a reader, as assistive technology gets it; needs no script in the page.
    #[track_caller]
    pub(crate) fn accessible_text(&self) -> String {
        let tree = self.session.devtools("Accessibility.getFullAXTree", &json!({}));
        let nodes = tree.get("nodes").and_then(Value::as_array).expect("nodes");
        let text = |node: &Value| {
            let is_text = node.pointer("/role/value")? == "StaticText";
            is_text.then(|| Some(node.pointer("/name/value")?.as_str()?.to_owned()))?
        };
        nodes.iter().filter_map(text).collect::<Vec<_>>().join("\n")
    }

    // What a person does

    /// A click in the middle of an element, scrolled into view.
    #[track_caller]
    pub(crate) fn click(&self, css: &str) {
        self.session.post(&format!("element/{}/click", self.id(css)), &json!({}));
    }

    /// Keys typed into an element, after what it holds. A file input takes a path.
    #[track_caller]
    pub(crate) fn type_text(&self, css: &str, text: &str) {
        self.session.post(&format!("element/{}/value", self.id(css)), &json!({ "text": text }));
    }

    /// Puts a whole value into a field or a select at once, with the events that doing it by hand would fire.
    #[track_caller]
    pub(crate) fn set_value(&self, css: &str, value: &str) {
        let script = "const [field, value] = arguments;
            field.value = value;
            field.dispatchEvent(new Event('input', { bubbles: true }));
            field.dispatchEvent(new Event('change', { bubbles: true }));";
        self.execute(script, &json!([self.find(css), value]));
    }

    /// Keys pressed together where the focus is: `&["\u{E009}", "z"]` is Control and z, `&["\u{E004}"]` is Tab.
    #[track_caller]
    pub(crate) fn press(&self, keys: &[&str]) {
        let down = keys.iter().map(|key| json!({ "type": "keyDown", "value": key }));
        let up = keys.iter().rev().map(|key| json!({ "type": "keyUp", "value": key }));
        let actions: Vec<_> = down.chain(up).collect();
        self.session.post("actions", &json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }));
    }

    /// The pointer moved to the middle of an element, and by (x, y) pixels from there.
    #[track_caller]
    pub(crate) fn hover(&self, css: &str, x: i32, y: i32) {
        let there = json!({ "type": "pointerMove", "duration": 0, "origin": self.find(css), "x": x, "y": y });
        let pointer = json!({ "type": "pointer", "id": "mouse", "actions": [there] });
        self.session.post("actions", &json!({ "actions": [pointer] }));
    }

    // Scripts

    /// Runs the body of a function in the page, and gives what it returns.
    #[track_caller]
    pub(crate) fn execute(&self, script: &str, arguments: &Value) -> Value {
        self.session.post("execute/sync", &json!({ "script": script, "args": arguments }))
    }

    /// The same for the body of an `async` function: it may await, and its result is awaited. Up to 60 s.
    #[track_caller]
    pub(crate) fn execute_async(&self, script: &str, arguments: &Value) -> Value {
        // A promise that `execute/sync` is given back is awaited; `arguments` are those of the outer function.
        let script = format!("return (async function () {{ {script} }}).apply(null, arguments);");
        self.execute(&script, arguments)
    }

    /// Waits until an expression is true in the page; panics with the expression after `timeout`.
    #[track_caller]
    pub(crate) fn wait_until(&self, expression: &str, timeout: Duration) {
        let end = Instant::now() + timeout;
        while self.execute(&format!("return Boolean({expression});"), &json!([])) != true {
            assert!(Instant::now() < end, "not true within {timeout:?}: {expression}\n{:#?}", self.console());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    // What the browser says

    /// What the console holds since the page was opened: `{"level", "message", "source", "timestamp"}` each.
    pub(crate) fn console(&self) -> Vec<Value> {
        let new = self.session.post("se/log", &json!({ "type": "browser" }));
        self.console.borrow_mut().extend(new.as_array().expect("entries").iter().cloned());
        self.console.borrow().clone()
    }

    /// The errors among them: exceptions, failed loads, refusals of the content security policy.
    pub(crate) fn console_errors(&self) -> Vec<String> {
        self.messages("SEVERE")
    }

    /// The warnings among them.
    pub(crate) fn console_warnings(&self) -> Vec<String> {
        self.messages("WARNING")
    }

    fn messages(&self, level: &str) -> Vec<String> {
        let entries = self.console();
        let of_level = entries.iter().filter(|entry| entry.get("level").is_some_and(|is| is == level));
        of_level.filter_map(|entry| Some(entry.get("message")?.as_str()?.to_owned())).collect()
    }

    /// Every address that the page asked for since it was opened, whoever was to answer.
    pub(crate) fn requests(&self) -> Vec<String> {
        let new = self.session.post("se/log", &json!({ "type": "performance" }));
        let url = |entry: &Value| {
            let event: Value = serde_json::from_str(entry.get("message")?.as_str()?).ok()?;
            let sent = event.pointer("/message/method")? == "Network.requestWillBeSent";
            sent.then(|| Some(event.pointer("/message/params/request/url")?.as_str()?.to_owned()))?
        };
        self.requests.borrow_mut().extend(new.as_array().expect("entries").iter().filter_map(url));
        self.requests.borrow().clone()
    }

    /// Those that leave the page's own server; `data:` and `blob:` never do.
    pub(crate) fn requests_outside_origin(&self) -> Vec<String> {
        let home = format!("{}/", self.server.origin());
        let inside = |url: &String| [home.as_str(), "data:", "blob:"].iter().any(|start| url.starts_with(start));
        self.requests().into_iter().filter(|url| !inside(url)).collect()
    }

    /// Every path that the page's server was asked for, with the sub-path.
    pub(crate) fn server_paths(&self) -> Vec<String> {
        self.server.seen()
    }

    /// What axe-core finds against WCAG 2.2 A and AA and its best practices: a line for each rule and element.
    #[track_caller]
    pub(crate) fn accessibility_violations(&self) -> Vec<String> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools/axe/node_modules/axe-core/axe.min.js");
        let axe = std::fs::read_to_string(&path).expect("axe-core is not here: run `make test`, which installs it");
        self.execute(&axe, &json!([]));
        let script = "const found = await axe.run(document);
            return found.violations.flatMap((rule) =>
                rule.nodes.map((node) => `${rule.id} (${rule.impact}): ${node.target}: ${node.failureSummary}`));";
        let found = self.execute_async(script, &json!([]));
        let lines = found.as_array().expect("a list").iter();
        lines.filter_map(|line| Some(line.as_str()?.to_owned())).collect()
    }

    // How it is shown

    /// The size of the page's view in CSS pixels, at one device pixel each.
    #[track_caller]
    pub(crate) fn resize(&self, width: u32, height: u32) {
        self.resize_scaled(width, height, 1.0);
    }

    /// The same at `ratio` device pixels each.
    #[track_caller]
    pub(crate) fn resize_scaled(&self, width: u32, height: u32, ratio: f64) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": ratio, "mobile": false });
        self.session.devtools("Emulation.setDeviceMetricsOverride", &size);
    }

    /// What the page is told about the system's colours.
    #[track_caller]
    pub(crate) fn emulate_dark(&self, dark: bool) {
        let feature = json!({ "name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" } });
        self.session.devtools("Emulation.setEmulatedMedia", &json!({ "features": [feature] }));
    }

    /// Shows the page as it prints, or as on a screen.
    #[track_caller]
    pub(crate) fn emulate_print(&self, print: bool) {
        let media = if print { "print" } else { "" };
        self.session.devtools("Emulation.setEmulatedMedia", &json!({ "media": media }));
    }

    /// A PNG of the page, also below the fold, down to its table of operations.
    #[track_caller]
    pub(crate) fn screenshot(&self, path: impl AsRef<Path>) {
        let size = self.session.devtools("Page.getLayoutMetrics", &json!({}));
        let side = |side| size.pointer(side).and_then(Value::as_f64).expect("a size");
        let (width, height) = (side("/cssContentSize/width"), side("/cssContentSize/height"));
        let clip = json!({ "x": 0, "y": 0, "width": width, "height": height.min(2140.0), "scale": 1 });
        let wanted = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let made = self.session.devtools("Page.captureScreenshot", &wanted);
        let data = made.get("data").and_then(Value::as_str).expect("data");
        let png = base64::engine::general_purpose::STANDARD.decode(data).expect("base64");
        std::fs::write(path, png).expect("writable");
    }

    #[track_caller]
    fn id(&self, css: &str) -> String {
        self.find(css).get(ELEMENT).and_then(Value::as_str).expect("an element").to_owned()
    }
}

/// The built page.
pub(crate) fn dist() -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("dist");
    let folder = std::env::var_os("ROOFLENS_DIST").map_or(built, PathBuf::from);
    assert!(
        folder.join("index.html").is_file(),
        "{} holds no built page: run `make test`, which builds it first",
        folder.display()
    );
    folder
}

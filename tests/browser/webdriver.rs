//! A small WebDriver client: one chromedriver, one Chromium, one session, all ended on drop.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The key under which WebDriver hands out elements.
pub(crate) const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Quiet, alone, and without a graphics card; `--no-sandbox` because tests may run as root in a container.
const FLAGS: [&str; 10] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
];

/// The chromedriver process and a folder of its own for all that it and Chromium write; both go on drop.
struct Driver {
    child: Child,
    folder: PathBuf,
    port: u16,
}

/// A browser session.
pub(crate) struct Session {
    driver: Driver,
    id: String,
}

impl Driver {
    fn start() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let program = program("CHROMEDRIVER", &["chromedriver"])
            .expect("chromedriver is not on the PATH: run `make test`, which installs what the tests need");
        let name = format!("rooflens-browser-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a folder for temporary files");
        let mut command = Command::new(program);
        command.arg("--port=0").env("TMPDIR", &folder).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut driver = Self { child: command.spawn().expect("chromedriver starts"), folder, port: 0 };
        let mut lines = BufReader::new(driver.child.stdout.take().expect("piped")).lines();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse().ok()
        });
        // The pipe stays open and is emptied, or chromedriver would stop at its next word.
        std::thread::spawn(move || lines.for_each(drop));
        driver.port = port.expect("chromedriver prints its port");
        driver
    }

    fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, String> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let exchange = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
            stream.set_read_timeout(Some(Duration::from_secs(90)))?;
            write!(
                stream,
                "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
                 Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
                self.port,
                body.len(),
            )?;
            let mut stream = BufReader::new(stream);
            let (mut line, mut length) = (String::new(), 0);
            while stream.read_line(&mut line)? > 2 {
                let header = line.to_ascii_lowercase();
                if let Some(value) = header.strip_prefix("content-length:") {
                    length = value.trim().parse().map_err(std::io::Error::other)?;
                }
                line.clear();
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body)?;
            String::from_utf8(body).map_err(std::io::Error::other)
        };
        let text = exchange().map_err(|error| format!("{method} {path}: {error}"))?;
        let mut answer: Value = serde_json::from_str(&text).map_err(|error| format!("{method} {path}: {error}"))?;
        let value = answer.get_mut("value").map(Value::take).unwrap_or_default();
        match (value.get("error"), value.get("message")) {
            (Some(Value::String(error)), Some(Value::String(message))) => Err(format!("{error}: {message}")),
            _ => Ok(value),
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Chromium's last process may still be writing.
        let mut tries = 0..40;
        while std::fs::remove_dir_all(&self.folder).is_err() && tries.next().is_some() {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Session {
    /// Starts a browser, with nothing of an earlier one.
    pub(crate) fn start() -> Self {
        let driver = Driver::start();
        let mut options = json!({ "args": FLAGS, "perfLoggingPrefs": { "enableNetwork": true, "enablePage": false } });
        if let (Some(browser), Some(options)) = (browser(), options.as_object_mut()) {
            options.insert("binary".to_owned(), json!(browser));
        }
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
            "timeouts": { "script": 60_000, "pageLoad": 60_000 },
        } } });
        let made = driver.send("POST", "/session", Some(&wanted)).unwrap_or_else(|error| {
            panic!("Chromium does not start ({error}): run `make test`, which installs what the tests need")
        });
        let id = made.get("sessionId").and_then(Value::as_str).expect("a session id").to_owned();
        Self { driver, id }
    }

    /// `POST` of a command of this session; panics where WebDriver refuses it.
    #[track_caller]
    pub(crate) fn post(&self, command: &str, body: &Value) -> Value {
        self.try_post(command, body).unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    /// `POST` of a command of this session.
    pub(crate) fn try_post(&self, command: &str, body: &Value) -> Result<Value, String> {
        self.driver.send("POST", &format!("/session/{}/{command}", self.id), Some(body))
    }

    /// `GET` of a command of this session; panics where WebDriver refuses it.
    #[track_caller]
    pub(crate) fn get(&self, command: &str) -> Value {
        let path = format!("/session/{}/{command}", self.id);
        self.driver.send("GET", &path, None).unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    /// A command of the Chrome DevTools protocol.
    #[track_caller]
    pub(crate) fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Ends Chromium and removes its profile; the driver goes after it.
        let _ = self.driver.send("DELETE", &format!("/session/{}", self.id), None);
    }
}

/// The program that an environment variable names, or the first of `names` on the PATH.
fn program(variable: &str, names: &[&str]) -> Option<PathBuf> {
    if let Some(set) = std::env::var_os(variable) {
        let set = PathBuf::from(set);
        assert!(set.is_file(), "{variable} names {}, which is no file", set.display());
        return Some(set);
    }
    let path = std::env::var_os("PATH")?;
    let found = |name: &&str| std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    names.iter().find_map(found)
}

fn browser() -> Option<PathBuf> {
    program("CHROME", &["chromium", "google-chrome", "google-chrome-stable"])
}

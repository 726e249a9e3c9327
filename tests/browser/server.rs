//! A static file server for one folder, under a sub-path, as a plain host would serve it.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Where the folder lies on the server. Nothing else is there: `/` answers 404.
pub(crate) const SUB_PATH: &str = "/some/where/";

struct Shared {
    folder: PathBuf,
    /// Paths that end so answer 404.
    missing: Vec<String>,
    seen: Mutex<Vec<String>>,
    stopped: AtomicBool,
}

/// The server, stopped on drop.
pub(crate) struct Server {
    port: u16,
    shared: Arc<Shared>,
}

impl Server {
    /// Serves `folder` on a free port of this machine; paths that end in one of `missing` answer 404.
    pub(crate) fn start(folder: &Path, missing: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared {
            folder: folder.to_owned(),
            missing: missing.iter().map(|&end| end.to_owned()).collect(),
            seen: Mutex::default(),
            stopped: AtomicBool::new(false),
        });
        let ours = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.stopped.load(Ordering::Relaxed) {
                    break;
                }
                // A thread each: a browser opens connections ahead of need and leaves them silent.
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || answer(stream, &shared));
            }
        });
        Self { port, shared: ours }
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Every path that was asked for so far, in order, with the sub-path.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.shared.seen.lock().expect("no panic while held").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        // Wakes the listener, which then sees that it is to stop.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

/// One request, one answer, one connection. A client that goes away is no concern.
fn answer(mut stream: TcpStream, shared: &Shared) -> Option<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    let request = lines.next()?.ok()?;
    while !lines.next()?.ok()?.is_empty() {}
    let path = request.split(' ').nth(1)?.split('?').next()?.to_owned();
    shared.seen.lock().ok()?.push(path.clone());

    let body = if shared.missing.iter().any(|end| path.ends_with(end)) { None } else { read(&shared.folder, &path) };
    let (status, body) = match body {
        Some(body) => ("200 OK", body),
        None => ("404 Not Found", b"not found".to_vec()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
        content_type(&path),
        body.len(),
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&body).ok()
}

fn read(folder: &Path, path: &str) -> Option<Vec<u8>> {
    let name = path.strip_prefix(SUB_PATH)?;
    let name = if name.is_empty() { "index.html" } else { name };
    if name.split('/').any(|part| part == "..") {
        return None;
    }
    std::fs::read(folder.join(name)).ok()
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("js") => "text/javascript",
        Some("wasm") => "application/wasm",
        Some("css") => "text/css",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    }
}

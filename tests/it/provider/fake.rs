//! A scripted model server on loopback: raw TCP, so that it can do what HTTP libraries do not allow.
//!
//! The n-th request gets the n-th reply, the last reply repeats; or a function answers. Requests are kept to be asserted on.

use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    /// When its body was complete.
    pub at: Instant,
    /// `POST /v1/chat/completions`.
    pub line: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// JSON; null where there was none.
    pub body: Value,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn messages(&self) -> &Vec<Value> {
        self.body["messages"].as_array().expect("messages")
    }
}

/// What a reply does, one step after the other. The connection closes cleanly after the last one.
#[derive(Clone, Debug)]
pub enum Step {
    Bytes(Vec<u8>),
    Pause(Duration),
    /// Says nothing more until the client goes.
    Stall,
    /// Resets the connection.
    Reset,
}

/// A scripted answer.
#[derive(Clone, Debug)]
pub struct Reply {
    head: Option<String>,
    steps: Vec<Step>,
    split: Option<usize>,
}

impl Reply {
    /// An answer with any status and body.
    pub fn raw(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let head = format!("HTTP/1.1 {status} Status\r\ncontent-type: {content_type}\r\nconnection: close\r\n");
        Self { head: Some(head), steps: vec![Step::Bytes(body.into())], split: None }
    }

    pub fn json(status: u16, body: &Value) -> Self {
        Self::raw(status, "application/json", body.to_string())
    }

    pub fn error(status: u16, message: &str) -> Self {
        Self::json(status, &json!({ "error": { "message": message, "type": "invalid_request_error", "param": null, "code": null } }))
    }

    /// An event stream of any bytes.
    pub fn stream(bytes: impl Into<Vec<u8>>) -> Self {
        Self::raw(200, "text/event-stream", bytes)
    }

    /// Chunks as events, then `[DONE]`.
    pub fn chunks(chunks: &[Value]) -> Self {
        Self::stream(events(chunks) + "data: [DONE]\n\n")
    }

    /// Chunks as events; the connection closes after them.
    pub fn open_chunks(chunks: &[Value]) -> Self {
        Self::stream(events(chunks))
    }

    /// An ordinary answer of text.
    pub fn text(text: &str) -> Self {
        Self::chunks(&[delta(json!({ "role": "assistant", "content": text })), finish("stop")])
    }

    /// Accepts and says nothing at all.
    pub fn silence() -> Self {
        Self { head: None, steps: vec![Step::Stall], split: None }
    }

    /// A recorded answer of a real server.
    pub fn recorded(name: &str) -> Self {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/streams");
        let head = std::fs::read_to_string(folder.join(format!("{name}.headers"))).expect("headers");
        let body = std::fs::read(folder.join(format!("{name}.sse"))).expect("body");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let kind = head.lines().find_map(|line| line.split_once(": ").filter(|(key, _)| key.eq_ignore_ascii_case("content-type")));
        Self::raw(status, kind.expect("a content type").1.trim(), body)
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Some(head) = &mut self.head {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        self
    }

    pub fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Writes the body in pieces of `bytes`.
    pub fn split(mut self, bytes: usize) -> Self {
        self.split = Some(bytes);
        self
    }
}

/// Chunks as events.
pub fn events(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}

/// A chunk with one delta.
pub fn delta(delta: Value) -> Value {
    json!({ "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

/// A chunk of text.
pub fn text(text: &str) -> Value {
    delta(json!({ "content": text }))
}

/// A chunk with one fragment of a tool call.
pub fn call(call: Value) -> Value {
    delta(json!({ "tool_calls": [call] }))
}

/// A chunk with the finish reason.
pub fn finish(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

#[derive(Debug, Default)]
struct Log {
    seen: Vec<Seen>,
    closed: usize,
}

/// The server; it ends when dropped.
pub struct Fake {
    address: std::net::SocketAddr,
    log: watch::Receiver<Log>,
    _tasks: JoinSet<()>,
}

impl Fake {
    pub async fn start(replies: Vec<Reply>) -> Self {
        let replies = Mutex::new(replies);
        Self::answering(move |_| {
            let mut replies = replies.lock().unwrap();
            if replies.len() > 1 { replies.remove(0) } else { replies[0].clone() }
        })
        .await
    }

    /// Each request gets what `brain` says to it.
    pub async fn answering(brain: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (sender, log) = watch::channel(Log::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(serve(listener, Arc::new(brain), Arc::new(sender)));
        Self { address, log, _tasks: tasks }
    }

    /// The base URL, with `/v1`.
    pub fn base(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn requests(&self) -> Vec<Seen> {
        self.log.borrow().seen.clone()
    }

    pub async fn wait_for_requests(&self, count: usize) {
        self.wait(|log| log.seen.len() >= count).await;
    }

    /// Waits until `count` connections were closed by the client in the middle of a reply.
    pub async fn wait_for_hang_ups(&self, count: usize) {
        self.wait(|log| log.closed >= count).await;
    }

    async fn wait(&self, ready: impl FnMut(&Log) -> bool) {
        let mut log = self.log.clone();
        let waited = tokio::time::timeout(Duration::from_secs(10), log.wait_for(ready)).await;
        waited.expect("the server saw it in time").expect("the server runs");
    }
}

type Brain = Arc<dyn Fn(&Seen) -> Reply + Send + Sync>;

async fn serve(listener: TcpListener, brain: Brain, log: Arc<watch::Sender<Log>>) {
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        connections.spawn(answer(socket, brain.clone(), log.clone()));
    }
}

async fn answer(mut socket: TcpStream, brain: Brain, log: Arc<watch::Sender<Log>>) {
    let Some(seen) = read_request(&mut socket).await else { return };
    let reply = brain(&seen);
    log.send_modify(|log| log.seen.push(seen));
    if let Some(head) = reply.head {
        let _ = socket.write_all(format!("{head}\r\n").as_bytes()).await;
    }
    for step in reply.steps {
        match step {
            Step::Bytes(bytes) => {
                for piece in bytes.chunks(reply.split.unwrap_or(usize::MAX)) {
                    let _ = socket.write_all(piece).await;
                    let _ = socket.flush().await;
                    if reply.split.is_some() {
                        tokio::task::yield_now().await;
                    }
                }
            }
            Step::Pause(time) => tokio::time::sleep(time).await,
            Step::Stall => {
                let mut rest = [0; 64];
                while !matches!(socket.read(&mut rest).await, Ok(0) | Err(_)) {}
                log.send_modify(|log| log.closed += 1);
            }
            Step::Reset => {
                // What was written before must arrive before the reset overtakes it.
                tokio::time::sleep(Duration::from_millis(50)).await;
                let _ = socket.set_zero_linger();
                return;
            }
        }
    }
    let _ = socket.shutdown().await;
}

async fn read_request(socket: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        match socket.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let line = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
    let headers: Vec<(String, String)> =
        lines.filter_map(|l| l.split_once(": ")).map(|(k, v)| (k.to_ascii_lowercase(), v.to_owned())).collect();
    let length = headers.iter().find(|(key, _)| key == "content-length").and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    while bytes.len() < end + 4 + length {
        match socket.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
    }
    let body = serde_json::from_slice(&bytes[end + 4..]).unwrap_or(Value::Null);
    Some(Seen { at: Instant::now(), line, headers, body })
}

//! Good bytes of each kind, to be damaged.

pub const TASK: &str = r#"{"id":3,"subject":"Fix the totals","description":"Line one\nline two","status":"in_progress","owner":"bob","blockedBy":[2,1],"notes":[{"at":1760000000000,"by":"bob","text":"claimed"}],"priority":"high"}"#;
pub const TASK_CAMEL: &str = r#"{"taskId":"3","subject":"other program","owner":"","blockedBy":["1"],"blocks":[4]}"#;
pub const REQUEST: &str = r#"{"id":"0a1b2c3d","kind":"plan","asker":"bob","target":"bob","generation":1,"title":"Migrate","body":"1. migrate","task":3,"created":1760000000000,"state":"rejected","answer":{"by":"human","verdict":{"verdict":"reject","feedback":"no"},"digest":"abc","at":1760000000001}}"#;
pub const TEAM: &str = r#"{"team_name":"crew","protocol":"autonomous","members":[{"name":"lead","role":"lead","status":"idle","generation":1},{"name":"alice","role":"coder","status":"working","generation":2,"task":3,"pet":"cat"},{"name":"bob","role":"tester","status":"shutdown","generation":1,"require_plan":true,"reason":"done"}],"theme":"dark"}"#;
pub const TEAM_UPSTREAM: &str = r#"{"teamName":"origin","teammates":[{"name":"alice","role":"coder","status":"working"},{"name":"bob","role":"tester","status":"idle"}]}"#;
pub const INBOX: &str = concat!(
    r#"{"id":"m1","type":"message","from":"lead","to":"bob","content":"first letter","timestamp":1760000000.123}"#,
    "\n",
    r#"{"type":"shutdown_request","from":"lead","content":"stop","timestamp":1760000001,"extra":{"requestId":"0a1b2c3d"}}"#,
    "\n",
    r#"{"id":"m3","type":"broadcast","from":"human","to":"bob","content":"third letter","timestamp":1760000002123,"metadata":{"plan":"x"}}"#,
    "\n"
);
pub const EVENTS: &str = concat!(
    r#"{"v":1,"seq":1,"at":1760000000000,"kind":"opened","team":"crew","protocol":"autonomous","provider":"scripted","model":"script","scripted":true,"pid":77}"#,
    "\n",
    r#"{"v":1,"seq":2,"at":1760000000001,"kind":"member_changed","member":{"name":"bob","role":"coder","status":"working","generation":1},"why":null}"#,
    "\n",
    r#"{"v":1,"seq":3,"at":1760000000002,"kind":"task_changed","task":{"id":3,"subject":"s","description":"","status":"pending","owner":null,"blockedBy":[]},"change":"created","by":"lead"}"#,
    "\n",
    r#"{"v":1,"seq":4,"at":1760000000003,"kind":"tool_finished","name":"bob","call":"c1","tool":"bash","ok":true,"millis":12,"output":"fine"}"#,
    "\n"
);
pub const TRANSCRIPT: &str = concat!(
    r#"{"entry":"started","at":1760000000000,"generation":1,"inbox_offset":0}"#,
    "\n",
    r#"{"entry":"mail","at":1760000000001,"offset":107,"messages":[{"id":"m1","type":"message","from":"lead","to":"bob","content":"first letter","timestamp":1760000000.123}]}"#,
    "\n",
    r#"{"entry":"message","at":1760000000002,"message":{"role":"assistant","text":"I look","calls":[{"id":"c1","name":"bash","arguments":"{\"command\":\"ls\"}"}]}}"#,
    "\n",
    r#"{"entry":"message","at":1760000000003,"message":{"role":"tool","call_id":"c1","name":"bash","content":"fine","ok":true}}"#,
    "\n",
    r#"{"entry":"compacted","at":1760000000004,"summary":"so far","kept":1}"#,
    "\n"
);
pub const USER_CONFIG: &str = include_str!("../../../config.example.toml");
pub const WORKSPACE_CONFIG: &str = "[team]\nprotocol = \"sequential\"\n[limits]\nidle_timeout = 30\n[permissions]\nallow = [\"bash(cargo *)\"]\n[providers.evil]\nbase_url = \"http://127.0.0.1:9/v1\"\napi_key_cmd = \"touch /tmp/x\"\n";
pub const SCRIPT: &str = include_str!("../../../assets/demo/demo.toml");
pub const STREAMS: [&str; 6] = [
    include_str!("../../fixtures/streams/llamacpp-chat.sse"),
    include_str!("../../fixtures/streams/llamacpp-tool_parallel.sse"),
    include_str!("../../fixtures/streams/llamacpp-queued.sse"),
    include_str!("../../fixtures/streams/llamacpp-err_context.sse"),
    include_str!("../../fixtures/streams/llamacpppython-tool_forced.sse"),
    "\u{feff}: ping\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"<think>x</think>y\",\"tool_calls\":[{\"index\":1,\"id\":\"\",\"function\":{\"name\":\"bash\",\"arguments\":\"{\\\"a\\\":\"}}]},\"finish_reason\":\"\"}]}\r\n\r\nevent: error\rdata: {\"message\":\"x\"}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\n\ndata: [DONE] \n\n",
];

/// The samples of an entry point.
pub fn of(name: &str) -> Vec<&'static [u8]> {
    let texts: &[&str] = match name {
        "inbox" => &[INBOX],
        "task" => &[TASK, TASK_CAMEL],
        "request" => &[REQUEST],
        "team" => &[TEAM, TEAM_UPSTREAM],
        "events" => &[EVENTS],
        "transcript" => &[TRANSCRIPT],
        "user_config" => &[USER_CONFIG],
        "workspace_config" => &[WORKSPACE_CONFIG],
        "script" => &[SCRIPT],
        "stream" => &STREAMS,
        other => panic!("no samples of {other}"),
    };
    texts.iter().map(|text| text.as_bytes()).collect()
}

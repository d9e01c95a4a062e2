//! What is told by OpenTelemetry's protocol: the same samples as Prometheus reads, and taken by a real collector.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Instant;

use serde_json::Value;

use crate::prometheus::{PATIENCE, Running, fusebox, state_of_today};
use crate::states::{OVER_MS, State, two_weeks};

/// Samples by their names and labels.
type Samples = BTreeMap<(String, BTreeMap<String, String>), String>;

fn of_prometheus(text: &str) -> Samples {
    let sample = |line: &str| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = name.split_once('{').unwrap_or((name, ""));
        let pairs = labels.trim_end_matches('}').split("\",").filter_map(|pair| pair.split_once("=\""));
        let labels = pairs.map(|(name, value)| (name.to_owned(), value.trim_end_matches('"').to_owned())).collect();
        ((name.to_owned(), labels), number(value))
    };
    text.lines().filter(|line| !line.starts_with('#')).map(sample).collect()
}

fn number(value: &str) -> String {
    value.parse::<f64>().unwrap().to_string()
}

fn metrics(json: &Value) -> &Vec<Value> {
    json["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap()
}

/// Reads samples under the names that Prometheus gives them by OpenTelemetry's rules.
fn of_otlp(json: &Value, at_ms: i64) -> Samples {
    let mut samples = Samples::new();
    for metric in metrics(json) {
        let (kind, total) = if metric["sum"].is_null() { ("gauge", "") } else { ("sum", "_total") };
        if kind == "sum" {
            assert_eq!(metric[kind]["isMonotonic"], true);
            assert_eq!(metric[kind]["aggregationTemporality"], "AGGREGATION_TEMPORALITY_CUMULATIVE");
        }
        let unit = match metric["unit"].as_str().unwrap() {
            "1" => "_ratio".to_owned(),
            counted if counted.starts_with('{') => String::new(),
            unit => format!("_{unit}"),
        };
        let name = format!("{}{unit}{total}", metric["name"].as_str().unwrap().replace('.', "_"));
        let points = metric[kind]["dataPoints"].as_array().unwrap();
        let is_whole = |point: &Value| point["asDouble"].is_null();
        assert!(points.iter().all(|point| is_whole(point) == is_whole(&points[0])), "{name} has numbers of two kinds");
        for point in points {
            let pair = |it: &Value| {
                (it["key"].as_str().unwrap().to_owned(), it["value"]["stringValue"].as_str().unwrap().to_owned())
            };
            let labels = point["attributes"].as_array().unwrap().iter().map(pair).collect();
            let value = point["asInt"].as_str().map_or_else(|| point["asDouble"].to_string(), str::to_owned);
            assert_eq!(point["timeUnixNano"], format!("{at_ms}000000"));
            samples.insert((name.clone(), labels), number(&value));
        }
    }
    samples
}

#[test]
fn every_sample_is_the_one_that_prometheus_reads() {
    let state = two_weeks();
    let json = serde_json::from_str(&state.run(OVER_MS, &["metrics", "--otlp"], None)).unwrap();
    let expected = of_prometheus(&state.run(OVER_MS, &["metrics"], None));
    assert!(expected.len() > 15, "{expected:?}");
    assert_eq!(of_otlp(&json, OVER_MS), expected);
}

fn push(state: &State, address: &str) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = fusebox(state, &["metrics", "--push", address]).output().unwrap();
    (status.code(), String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr))
}

#[test]
fn a_real_collector_takes_what_is_pushed() {
    let Some(collector) = env::var_os("ROTEL_BIN") else {
        println!(
            "SKIPPED, NOT PASSED: a push to a collector: ROTEL_BIN names none (pip install rotel; its program is rotel-agent)"
        );
        return;
    };
    let state = state_of_today();
    let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let (http, grpc, log) = (free(), free(), state.path("collector.log"));
    let mut command = Command::new(collector);
    command.args(["start", "--otlp-http-endpoint", &http, "--otlp-grpc-endpoint", &grpc, "--exporter", "blackhole"]);
    command.args(["--debug-log", "metrics", "--debug-log-verbosity", "detailed"]).stdin(Stdio::null());
    command.stdout(fs::File::create(&log).unwrap()).stderr(Stdio::null());
    let collector = Running(command.spawn().unwrap());
    let began = Instant::now();
    while TcpStream::connect(&http).is_err() {
        assert!(began.elapsed() < PATIENCE, "the collector does not listen");
    }
    assert_eq!(push(&state, &http), (Some(0), format!("sent to http://{http}/v1/metrics\n")));
    let printed = fusebox(&state, &["metrics", "--otlp"]).output().unwrap().stdout;
    let json: Value = serde_json::from_slice(&printed).unwrap();
    let names: Vec<&str> = metrics(&json).iter().map(|metric| metric["name"].as_str().unwrap()).collect();
    assert!(names.len() > 10, "{names:?}");
    loop {
        let told = fs::read_to_string(&log).unwrap();
        let has = |name: &&str| told.lines().any(|line| line.trim() == format!("-> Name: {name}"));
        if names.iter().all(has) && told.contains("-> agent_type: Str(asker)") {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{names:?}\n{told}");
    }
    drop(collector);
    let (code, said) = push(&state, &http);
    assert!(code == Some(1) && said.contains("cannot be reached: Connection refused"), "{said}");
}

/// What no collector that works does on request.
#[test]
fn what_is_not_taken_is_an_error() {
    let state = state_of_today();
    for (answer, expected) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", None),
        ("HTTP/1.1 400 Bad Request\r\n\r\nno such field", Some("HTTP 400: no such field")),
        (
            "HTTP/1.1 200 OK\r\n\r\n{\"partialSuccess\":{\"rejectedDataPoints\":\"3\",\"errorMessage\":\"full\"}}",
            Some("3 samples were not taken: full"),
        ),
        ("HTTP/1.1 200 OK\r\n\r\n{\"partialSuccess\":{\"rejectedDataPoints\":\"0\"}}", None),
        ("220 mail.example\r\n\r\n", Some("its answer is no HTTP")),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let other = thread::spawn(move || {
            let (mut caller, _) = listener.accept().unwrap();
            let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
            while !bytes.ends_with(b"]}]}") {
                let length = caller.read(&mut part).unwrap();
                assert!(length > 0, "the request ends too early");
                bytes.extend_from_slice(&part[..length]);
            }
            caller.write_all(answer.as_bytes()).unwrap();
        });
        let (code, said) = push(&state, &address);
        other.join().unwrap();
        match expected {
            None => assert_eq!(code, Some(0), "{answer}: {said}"),
            Some(words) => assert!(code == Some(1) && said.contains(words), "{answer}: {said}"),
        }
    }
    for refused in ["0.0.0.0:4318", "192.0.2.1:4318"] {
        let (code, said) = push(&state, refused);
        assert!(code == Some(2) && said.contains("is not this machine alone"), "{said}");
    }
}

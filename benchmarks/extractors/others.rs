// Articles by dom_smoothie and legible, for benchmarks/reading.py: a line of JSON in, one out.
use serde_json::{json, Value};
use std::io::BufRead;

fn dom_smoothie(html: &str, url: &str) -> Option<Value> {
    let found = dom_smoothie::Readability::new(html, Some(url), None).ok()?.parse().ok()?;
    let html = found.content.to_string();
    Some(json!({"html": html, "title": found.title, "author": found.byline, "date": found.published_time}))
}

fn legible(html: &str, url: &str) -> Option<Value> {
    let found = legible::parse(html, Some(url), None).ok()?;
    Some(json!({"html": found.content, "title": found.title, "author": found.byline, "date": found.published_time}))
}

/// Milliseconds of CPU, as Linux counts them for the only thread.
fn cpu() -> f64 {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = counted.split(' ').next().and_then(|spent| spent.parse::<f64>().ok());
    first.unwrap_or(0.0) / 1e6
}

fn main() {
    let name = std::env::args().nth(1).expect("the name of an extractor");
    let read = if name == "legible" { legible } else { dom_smoothie };
    for line in std::io::stdin().lock().lines() {
        let page: Value = serde_json::from_str(&line.expect("UTF-8")).expect("JSON");
        let text = |key: &str| page[key].as_str().unwrap_or_default();
        let begun = cpu();
        let mut found = read(text("html"), text("url")).unwrap_or(json!({}));
        found["ms"] = json!(cpu() - begun);
        println!("{found}");
    }
}

//! Folders of results in a zip: each file as it would be alone, and nothing beyond the bounds.

use goodput_engine::ingest::{ParsedFile, RefusalKind, read_file, read_files};
use goodput_engine::review::review;
use proptest::prelude::*;

const RUN: &[u8] = include_bytes!("fixtures/ingest/vllm_2025_closed_loop.json");
const STAGE: &[u8] = include_bytes!("fixtures/ingest/inference_perf_2025_stage.json");

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
        }
    }
    !crc
}

/// A zip of the members, the ones with an even place deflated, the others stored.
fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    let size = |bytes: usize| u32::try_from(bytes).expect("small").to_le_bytes();
    for (place, (name, bytes)) in members.iter().enumerate() {
        let method: u16 = if place % 2 == 0 { 8 } else { 0 };
        let packed = match method {
            8 => miniz_oxide::deflate::compress_to_vec(bytes, 6),
            _ => bytes.to_vec(),
        };
        let mut common = vec![20, 0, 0, 0];
        common.extend(method.to_le_bytes());
        common.extend([0; 4]);
        common.extend(crc32(bytes).to_le_bytes());
        common.extend(size(packed.len()));
        common.extend(size(bytes.len()));
        common.extend(u16::try_from(name.len()).expect("short").to_le_bytes());
        common.extend([0, 0]);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(size(out.len()));
        directory.extend(name.as_bytes());
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(&packed);
    }
    let start = out.len();
    let count = u16::try_from(members.len()).expect("few").to_le_bytes();
    out.extend(&directory);
    out.extend(b"PK\x05\x06\x00\x00\x00\x00");
    out.extend(count);
    out.extend(count);
    out.extend(size(directory.len()));
    out.extend(size(start));
    out.extend([0, 0]);
    out
}

fn kinds(files: &[ParsedFile]) -> Vec<(String, Option<RefusalKind>)> {
    files.iter().map(|f| (f.file.clone(), f.refused.as_ref().map(|r| r.kind))).collect()
}

#[test]
fn every_file_of_an_archive_is_what_it_is_alone() {
    let zip = archive(&[
        ("sweep/", b""),
        ("sweep/c16/run.json", RUN),
        ("sweep/stage_0.json", STAGE),
        ("sweep/notes.txt", b"we ran this on Tuesday"),
        ("__MACOSX/sweep/._run.json", b"\0\0"),
    ]);
    let files = read_files("results.zip", &zip);
    let unknown = Some(RefusalKind::NotRecognised);
    assert_eq!(
        kinds(&files),
        [
            ("results.zip/sweep/c16/run.json".to_owned(), None),
            ("results.zip/sweep/stage_0.json".to_owned(), None),
            ("results.zip/sweep/notes.txt".to_owned(), unknown),
        ]
    );
    assert_eq!(files[0].parsed, read_file("run.json", RUN).parsed);
    assert_eq!(files[1].parsed, read_file("stage.json", STAGE).parsed);
    assert_eq!(read_files("run.json", RUN), [read_file("run.json", RUN)]);
}

#[test]
fn an_archive_that_is_cut_empty_or_a_spreadsheet_is_refused_once() {
    let zip = archive(&[("a.json", RUN)]);
    for (bytes, kind) in [
        (&zip[..zip.len() - 30], RefusalKind::Truncated),
        (&archive(&[("[Content_Types].xml", b"<x/>")])[..], RefusalKind::Binary),
        (&archive(&[("folder/", b""), ("__MACOSX/x", b"1")])[..], RefusalKind::Empty),
    ] {
        let files = read_files("x.zip", bytes);
        assert_eq!(kinds(&files), [("x.zip".to_owned(), Some(kind))]);
    }
}

#[test]
fn a_damaged_member_is_named_and_the_others_are_read() {
    let mut zip = archive(&[("a.json", RUN), ("b.json", STAGE)]);
    zip[60] ^= 0x55;
    let files = read_files("x.zip", &zip);
    assert_eq!(files.len(), 2);
    let refused = files[0].refused.as_ref().expect("its checksum is wrong");
    assert_eq!((refused.kind, refused.message.contains("a.json")), (RefusalKind::Broken, true));
    assert!(files[1].parsed.is_some());
}

#[test]
fn files_of_one_sweep_are_reviewed_as_one() {
    let run = |cap: u32, rate: f64| {
        format!(
            r#"{{"model_id": "m", "num_prompts": 100, "max_concurrency": {cap},
            "request_rate": "inf", "duration": {}, "completed": 100, "total_input_tokens": 5000,
            "total_output_tokens": 10000, "request_throughput": {rate}, "output_throughput": {}}}"#,
            100.0 / rate,
            100.0 * rate
        )
    };
    let files: Vec<ParsedFile> = [(4, 8.0), (8, 14.0), (16, 9.0)]
        .map(|(cap, rate)| read_file(&format!("c{cap}.json"), run(cap, rate).as_bytes()))
        .into();
    let collapses = |files: &[ParsedFile]| -> Vec<String> {
        let found = review(files).into_iter().filter(|f| f.code == "throughput_collapse");
        found.map(|finding| finding.file).collect()
    };
    assert_eq!(collapses(&files), ["c16.json"]);
    assert!(files.iter().all(|file| collapses(std::slice::from_ref(file)).is_empty()));
}

#[test]
fn the_same_run_twice_is_a_duplicate_and_another_at_its_load_a_replicate() {
    let text = String::from_utf8_lossy(RUN);
    let other = text.replace("\"duration\": 1034", "\"duration\": 1035");
    let codes = |second: &str| -> Vec<String> {
        let files = [read_file("a.json", RUN), read_file("b.json", second.as_bytes())];
        let found = review(&files).into_iter();
        found.map(|f| f.code).filter(|c| c == "duplicate" || c == "replicates").collect()
    };
    assert_eq!(codes(&text), ["duplicate"]);
    assert_eq!(codes(&other), ["replicates"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_damaged_or_cut_archive_never_panics(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let mut zip = archive(&[("a.json", RUN), ("b.json", STAGE)]);
        let at = at.index(zip.len());
        zip[at] = byte;
        prop_assert!(!read_files("x.zip", &zip).is_empty());
        zip.truncate(cut.index(zip.len()));
        prop_assert!(!read_files("x.zip", &zip).is_empty());
    }
}

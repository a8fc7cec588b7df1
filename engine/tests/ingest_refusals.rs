//! Files that are not right: refused by kind, with the place and a way out.

use goodput_engine::ingest::{MAX_FILE_BYTES, Refusal, RefusalKind, formats, read};

fn refused(bytes: &[u8]) -> Refusal {
    read("fixture", bytes).expect_err("should be refused")
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    bytes.extend(miniz_oxide::deflate::compress_to_vec(text, 6));
    let mut crc = u32::MAX;
    for byte in text {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
        }
    }
    bytes.extend((!crc).to_le_bytes());
    bytes.extend(u32::try_from(text.len()).expect("a small text").to_le_bytes());
    bytes
}

#[test]
fn sizes_are_in_megabytes_and_no_sentence_begins_with_a_file_name() {
    let large = goodput_engine::ingest::refuse_size(250_000_000).expect("too large");
    assert!(large.message.contains("250 MB") && large.message.contains("200 MB"), "{large:?}");
    let barely = goodput_engine::ingest::refuse_size(MAX_FILE_BYTES as u64 + 1).expect("too large");
    assert!(barely.message.contains("200.1 MB"), "more than is read reads as more: {barely:?}");
    let empty = read("run.json", b"").expect_err("nothing in it");
    assert_eq!(empty.message, "the file run.json is empty");
}

#[test]
fn what_a_table_leaves_open_is_asked() {
    for (text, word) in [
        ("concurrency;ttft_p50_ms;output_tps\n8;45,5;1200\n", "semicolons"),
        ("concurrency,ttft_p50_ms,output_tps\n8,\"45,5\",1200\n", "line 2, column \"ttft_p50_ms\""),
        ("concurrency,ttft_p50_ms,output_tps\n8,45,\"1,200\"\n", "decimals or thousands"),
        ("concurrency,ttft_p50,output_tps\n8,45,1200\n", "does not say its unit"),
        ("concurrency,TTFT (ms),output_tps\n8,45,1200\n", "which statistic"),
    ] {
        let refusal = refused(text.as_bytes());
        assert_eq!(refusal.kind, RefusalKind::Ambiguous, "{text}");
        assert!(refusal.message.contains(word), "{}", refusal.message);
        assert!(!refusal.hint.is_empty());
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    for (text, line, word) in [
        ("concurrency,ttft_p50_rps,output_tps\n8,45,1\n", Some(1), "unit it cannot have"),
        ("concurrency,ttft_p50_ms,output_tps\n8,fast,1\n", Some(2), "\"fast\" is not a number"),
        ("concurrency,ttft_p50_ms,output_tps\n8,-4,1\n", Some(2), "negative"),
        ("concurrency,ttft_p50_ms,output_tps\n8.5,4,1\n", Some(2), "not a whole number"),
        ("concurrency,ttft_p50_ms,output_tps\n8,4\n9,5,1\n", Some(2), "2 cells"),
        ("TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,1,2\n", Some(2), "\"yesterday\""),
        ("TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00,1.5,2\n", Some(2), "1.5"),
        (
            "{\"model_id\": 1, \"request_throughput\": 2, \"output_throughput\": 3, \"x\" 4}",
            Some(1),
            "expected",
        ),
        (
            "{\"model_id\": 1, \"request_throughput\": 2, \"output_throughput\": 3}",
            Some(1),
            "duration",
        ),
    ] {
        let refusal = refused(text.as_bytes());
        assert_eq!((refusal.kind, refusal.line), (RefusalKind::Broken, line), "{text}");
        assert!(refusal.message.contains(word) || refusal.hint.contains(word), "{refusal}");
        assert!(refusal.format.is_some(), "{text}");
    }
}

#[test]
fn other_files_are_refused_by_kind() {
    for (bytes, kind) in [
        (&b""[..], RefusalKind::Empty),
        (b" \r\n\t", RefusalKind::Empty),
        (b"[]", RefusalKind::Empty),
        (b"{ }\n", RefusalKind::Empty),
        (b"TIMESTAMP,ContextTokens,GeneratedTokens\n", RefusalKind::Empty),
        (b"PK\x03\x04 and so on", RefusalKind::Binary),
        (b"\x00\x01\x02", RefusalKind::Binary),
        (b"hello", RefusalKind::NotRecognised),
        (b"{\"a\": 1}", RefusalKind::NotRecognised),
        (b"request_id,isl,osl,ttft_p50_ms,output_tps\n1,2,3,4,5\n", RefusalKind::NotRecognised),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 3\n",
            RefusalKind::NotRecognised,
        ),
        (b"{\"a\": [1, 2", RefusalKind::Truncated),
    ] {
        let refusal = refused(bytes);
        assert_eq!(refusal.kind, kind, "{refusal}");
        let looked = refusal.looked_for.len();
        assert_eq!(looked == formats().len(), kind == RefusalKind::NotRecognised, "{refusal}");
    }
    let huge = vec![0; MAX_FILE_BYTES + 1];
    assert_eq!(refused(&huge).kind, RefusalKind::TooLarge, "before anything of it is looked at");
}

#[test]
fn a_gzip_file_is_what_it_holds() {
    let run: &[u8] = include_bytes!("fixtures/ingest/vllm_2026_detailed_clean.json");
    let trace: &[u8] = include_bytes!("fixtures/ingest/azure_trace.csv");
    for plain in [run, trace] {
        let packed = gzip(plain);
        assert_eq!(read("packed", &packed), read("plain", plain));
        assert!(read("packed", &packed).is_ok());
        assert_eq!(refused(&packed[..packed.len() - 9]).kind, RefusalKind::Truncated);
    }
}

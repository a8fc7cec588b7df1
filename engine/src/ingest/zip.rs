//! Zip archives (APPNOTE 6.3): the members of one, stored or deflated, with a bound on how many
//! and on what they unpack to. Folders of results keep their relative paths this way.

use std::io::Read;

use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, ErrorKind, ZipArchive};

use super::{MAX_FILE_BYTES, Refusal};

/// What every archive with a member starts with.
pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

/// The most members read of one archive.
pub const MAX_MEMBERS: usize = 2_000;

/// Calls `visit` with path and bytes of every member that is a file, in the archive's order, or
/// with why that member cannot be read. What macOS adds beside the files is passed over.
pub(super) fn for_each_member(
    bytes: &[u8],
    mut visit: impl FnMut(String, Result<&[u8], Refusal>),
) -> Result<(), Refusal> {
    let archive = ZipArchive::from_slice(bytes).map_err(|why| damaged(&why))?;
    let mut left = MAX_FILE_BYTES;
    let mut members = 0;
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry().map_err(|why| damaged(&why))? {
        let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
        if entry.is_dir() || name.starts_with("__MACOSX/") || name.ends_with(".DS_Store") {
            continue;
        }
        if name == "[Content_Types].xml" {
            return Err(Refusal::binary(
                "this is not text but a spreadsheet",
                "export the sheet as CSV",
            ));
        }
        members += 1;
        if members > MAX_MEMBERS {
            return Err(Refusal::too_large(members, "files or more in the archive", MAX_MEMBERS));
        }
        let member = archive.get_entry(entry.wayfinder()).map_err(|why| damaged(&why))?;
        let method = entry.compression_method();
        let mut unpacked = Vec::new();
        let limit = left as u64 + 1;
        let read = if method == CompressionMethod::STORE {
            member.verifying_reader(member.data()).take(limit).read_to_end(&mut unpacked)
        } else if method == CompressionMethod::DEFLATE {
            let inflated = DeflateDecoder::new(member.data());
            member.verifying_reader(inflated).take(limit).read_to_end(&mut unpacked)
        } else {
            let message =
                format!("the file {name} is packed by a method other than stored or deflated");
            visit(name, Err(Refusal::binary(message, "pack it again with ordinary zip")));
            continue;
        };
        if unpacked.len() > left {
            return Err(Refusal::too_many_bytes(None, MAX_FILE_BYTES));
        }
        match read {
            Ok(_) => {
                left -= unpacked.len();
                visit(name, Ok(&unpacked));
            }
            Err(why) => {
                let message = format!("the file {name} is damaged: {why}");
                visit(name, Err(Refusal::broken(message, "download or pack the archive again")));
            }
        }
    }
    Ok(())
}

fn damaged(why: &rawzip::Error) -> Refusal {
    match why.kind() {
        ErrorKind::MissingEndOfCentralDirectory | ErrorKind::Eof => {
            Refusal::truncated("the zip archive stops in the middle")
        }
        _ => Refusal::broken(
            format!("the zip archive is damaged: {why}"),
            "download or pack it again",
        ),
    }
}

//! What a link relies on beyond its own text: the catalogue's numbers, as the scenario meets them.

use super::check;
use super::doc::ScenarioDoc;
use super::pool::{Pool, Service};
use crate::step_time::BatchShape;

/// Length of a fingerprint in a link, characters.
pub(super) const FINGERPRINT_CHARS: usize = 8;

/// A hash over everything the catalogue contributes to the document: GPU, model, memory and step
/// time. Equal fingerprints mean that a link still means what it meant. The same for every
/// document that does not pass its check: nothing is computed from it.
pub(super) fn fingerprint(doc: &ScenarioDoc) -> String {
    let mut hash = Fnv32::default();
    if let Ok(checked) = check(doc) {
        for pool in checked.scenario.pools() {
            hash.pool(pool);
        }
    }
    format!("{:08x}", hash.0)
}

/// FNV-1a, 32 bits (Fowler, Noll, Vo).
struct Fnv32(u32);

impl Default for Fnv32 {
    fn default() -> Self {
        Self(0x811c_9dc5)
    }
}

impl Fnv32 {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
    }

    fn pool(&mut self, pool: &Pool) {
        // By name and number, not by how a struct is laid out: a field more is no change.
        self.bytes(pool.gpu.name.as_bytes());
        self.bytes(pool.model.name.as_bytes());
        self.bytes(&pool.scheduler.max_model_len.to_le_bytes());
        self.bytes(&pool.memory.kv_capacity_blocks.to_le_bytes());
        if let Service::Steps(step_time) = &pool.service {
            for shape in probes() {
                self.bytes(&step_time.law.step(shape).0.to_le_bytes());
            }
        }
    }
}

/// Batches whose step times tell the terms of a law apart.
fn probes() -> [BatchShape; 5] {
    let decodes =
        |decode_seqs, kv_tokens| BatchShape { decode_seqs, kv_tokens, ..BatchShape::default() };
    let mut prompt = BatchShape::default();
    prompt.add_prefill(0, 2_048);
    let mut chunk = BatchShape::default();
    chunk.add_prefill(4_096, 512);
    [decodes(1, 1_000), decodes(256, 256_000), decodes(256, 1_024_000), prompt, chunk]
}

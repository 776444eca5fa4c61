// What attention over ragged batches and its gradients read, in all their kernels (shaders/tensor/attention*.wgsl).
//
// The rows of a sequence with those query heads that read one key/value head, `members` of them, are numbered
// row * members + member, so that all of them share the keys that are loaded.

struct Shape {
  heads: u32,
  kv_heads: u32,
  /// Query heads of a workgroup: a divisor of heads / kv_heads.
  members: u32,
  head_vec4: u32,
  scale: f32,
  sequences: u32,
  /// Workgroups for each sequence and head: enough for the longest.
  tiles: u32,
  accumulates: u32,
}

/// Rows of one sequence, and where its keys are. Row t sees the whole prefix and own keys 0 to own_before + t.
struct Sequence {
  row: u32,
  rows: u32,
  prefix: u32,
  prefix_keys: u32,
  own: u32,
  own_before: u32,
}

/// Which of the two tensors of keys and values.
const PREFIX = 0u;
const OWN = 1u;

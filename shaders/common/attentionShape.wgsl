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

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> query: array<vec4f>;
@group(0) @binding(2) var<storage, read> prefix: array<vec4f>;
@group(0) @binding(3) var<storage, read> own: array<vec4f>;
@group(0) @binding(4) var<storage, read> sequences: array<Sequence>;

/// The numbered rows of a workgroup.
struct Tile {
  sequence: Sequence,
  first_head: u32,
  kv_head: u32,
  /// The first of the sequence's rows, and how many.
  start: u32,
  rows: u32,
  /// Numbered rows; 0 where there is nothing to do.
  count: u32,
}

/// What the workgroup of a number takes of up to `most` numbered rows.
fn tile_of(number: u32, most: u32) -> Tile {
  var tile: Tile;
  let head_blocks = shape.heads / shape.members;
  let index = number / head_blocks;
  if (index >= shape.sequences * shape.tiles) {
    return tile;
  }
  let sequence = sequences[index / shape.tiles];
  let tile_rows = most / shape.members;
  let start = index % shape.tiles * tile_rows;
  if (start >= sequence.rows) {
    return tile;
  }
  let first_head = number % head_blocks * shape.members;
  let rows = min(tile_rows, sequence.rows - start);
  return Tile(sequence, first_head, first_head / (shape.heads / shape.kv_heads), start, rows, rows * shape.members);
}

// What attention over ragged batches and its gradients share: shaders/tensor/attention.wgsl, attentionGradient.wgsl.
//
// The rows of a sequence with those query heads that read one key/value head, MEMBERS of them, are numbered
// row * MEMBERS + member, so that all of them share the keys that a workgroup loads.

/// Numbered rows, and keys, that a workgroup works on at a time; and the vec4s across them.
const TILE = 32u;
const TILE4 = 8u;
/// Invocations of a workgroup, at least TILE4.
override LANES: u32 = 64;

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

/// Dot products of four rows with four keys: column j holds those of key j. `kind` is handed on to row_vec4 and
/// key_vec4, which the shader defines: a vec4 of a row, and one of a key.
fn products(kind: u32, rows: vec4u, segment: u32, keys: vec4u, head_vec4: u32) -> mat4x4f {
  var p0 = vec4f();
  var p1 = vec4f();
  var p2 = vec4f();
  var p3 = vec4f();
  for (var d = 0u; d < head_vec4; d++) {
    let a = row_vec4(kind, rows.x + d);
    let b = row_vec4(kind, rows.y + d);
    let c = row_vec4(kind, rows.z + d);
    let e = row_vec4(kind, rows.w + d);
    var x = key_vec4(segment, keys.x + d);
    p0 += vec4f(dot(a, x), dot(b, x), dot(c, x), dot(e, x));
    x = key_vec4(segment, keys.y + d);
    p1 += vec4f(dot(a, x), dot(b, x), dot(c, x), dot(e, x));
    x = key_vec4(segment, keys.z + d);
    p2 += vec4f(dot(a, x), dot(b, x), dot(c, x), dot(e, x));
    x = key_vec4(segment, keys.w + d);
    p3 += vec4f(dot(a, x), dot(b, x), dot(c, x), dot(e, x));
  }
  return mat4x4f(p0, p1, p2, p3);
}

/// The four numbers from `first` on, held below `count`.
fn four(first: u32, count: u32) -> vec4u {
  return min(vec4u(first) + vec4u(0u, 1u, 2u, 3u), vec4u(count - 1u));
}

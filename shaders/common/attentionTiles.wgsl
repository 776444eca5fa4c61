// Tiles of scores of attention over ragged batches: shaders/tensor/attention.wgsl, attentionGradient.wgsl. Numbered rows are
// explained in attentionShape.wgsl.

/// Numbered rows, and keys, that a workgroup works on at a time; and the vec4s across them.
const TILE = 32u;
const TILE4 = 8u;
/// Invocations of a workgroup, at least TILE4.
override LANES: u32 = 64;

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

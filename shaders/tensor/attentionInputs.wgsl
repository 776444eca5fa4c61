// Splits the rows of a fused q|k|v product into heads, normalises q and k (qwen3) and turns them by the row's position:
// queries go into a tensor of their own, keys and values to their places among those of earlier rows.
//
// q, k: y[i] = x[i] * s * norm[i],  s = 1 / sqrt(mean of x^2 + epsilon) over the head (only with norms), then the rotary
// embedding: element i turns with element i + D / 2 by the angle position * theta^(-2 i / D). v: a copy.
//
//   backward_input:   d_qkv, or += where it accumulates: the turn back, then the gradient of the norm
//   backward_weight:  d_norm[i] = sum over rows and heads of x[i] * s * (what comes of the turn back), or +=
//
// qkv [R, (heads + 2 kv_heads) * D], a row padded to qkv_pitch; query [R, heads, D]; own [places, 2 kv_heads, D], keys
// first; heads padded to head_pitch with zeros; placement [R] of (position, place); scales [R, heads + kv_heads] gets s.
// angles [positions, D / 2] of (cos, sin), computed in f64 by the caller: of large angles some devices lose digits in f32.
// Dispatch: forward and backward_input ceil(R * (heads + 2 kv_heads) / 64) workgroups, folded; backward_weight
// ceil(D / WEIGHT_COLUMNS). Preludes: grid.
// Reference: src/reference/rmsNorm.ts, src/reference/rope.ts

override WEIGHT_COLUMNS: u32 = 8;
/// Invocations that share a column, a power of two.
override WEIGHT_LANES: u32 = 16;

struct Shape {
  rows: u32,
  heads: u32,
  kv_heads: u32,
  head_dim: u32,
  qkv_pitch: u32,
  head_pitch: u32,
  has_norms: u32,
  epsilon: f32,
  accumulates: u32,
  /// backward_weight: 0 for the norm of q, 1 for that of k.
  is_key: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> qkv: array<f32>;
@group(0) @binding(2) var<storage, read> placement: array<vec2u>;
@group(0) @binding(3) var<storage, read> angles: array<vec2f>;
@group(0) @binding(4) var<storage, read> q_norm: array<f32>;
@group(0) @binding(5) var<storage, read> k_norm: array<f32>;

@group(0) @binding(6) var<storage, read_write> query: array<f32>;
@group(0) @binding(7) var<storage, read_write> own: array<f32>;
@group(0) @binding(8) var<storage, read_write> scales: array<f32>;

@group(0) @binding(6) var<storage, read> d_query: array<f32>;
@group(0) @binding(7) var<storage, read> d_own: array<f32>;
@group(0) @binding(8) var<storage, read_write> d_qkv: array<f32>;

/// A head of a row.
struct Head {
  row: u32,
  /// Among all heads of the row: those of q, of k, of v.
  head: u32,
  /// Its place in qkv.
  start: u32,
  /// Its place in query or own.
  out: u32,
  /// Its row of angles.
  angle: u32,
  is_query: bool,
  is_value: bool,
}

fn head_at(index: u32) -> Head {
  let heads_of_row = shape.heads + 2u * shape.kv_heads;
  var at: Head;
  at.row = index / heads_of_row;
  at.head = index % heads_of_row;
  let known = placement[min(at.row, shape.rows - 1u)];
  at.start = at.row * shape.qkv_pitch + at.head * shape.head_dim;
  at.is_query = at.head < shape.heads;
  at.is_value = at.head >= shape.heads + shape.kv_heads;
  at.out = (known.y * 2u * shape.kv_heads + at.head - shape.heads) * shape.head_pitch;
  if (at.is_query) {
    at.out = (at.row * shape.heads + at.head) * shape.head_pitch;
  }
  at.angle = known.x * shape.head_dim / 2u;
  return at;
}

fn norm_weight(is_query: bool, i: u32) -> f32 {
  if (is_query) {
    return q_norm[i];
  }
  return k_norm[i];
}

@compute @workgroup_size(64)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = head_at(workgroup_number(workgroup, workgroups) * 64u + local);
  if (at.row >= shape.rows) {
    return;
  }
  let half = shape.head_dim / 2u;
  let is_normed = shape.has_norms != 0u && !at.is_value;
  var scale = 1.0;
  if (is_normed) {
    var sum = 0.0;
    for (var i = 0u; i < shape.head_dim; i++) {
      let x = qkv[at.start + i];
      sum += x * x;
    }
    scale = inverseSqrt(sum / f32(shape.head_dim) + shape.epsilon);
    scales[at.row * (shape.heads + shape.kv_heads) + at.head] = scale;
  }
  for (var i = 0u; i < half; i++) {
    var low = qkv[at.start + i];
    var high = qkv[at.start + half + i];
    if (is_normed) {
      low *= scale * norm_weight(at.is_query, i);
      high *= scale * norm_weight(at.is_query, half + i);
    }
    if (!at.is_value) {
      let turn = angles[at.angle + i];
      let turned = vec2f(low * turn.x - high * turn.y, high * turn.x + low * turn.y);
      low = turned.x;
      high = turned.y;
    }
    if (at.is_query) {
      query[at.out + i] = low;
      query[at.out + half + i] = high;
    } else {
      own[at.out + i] = low;
      own[at.out + half + i] = high;
    }
  }
  for (var i = shape.head_dim; i < shape.head_pitch; i++) {
    if (at.is_query) {
      query[at.out + i] = 0.0;
    } else {
      own[at.out + i] = 0.0;
    }
  }
}

/// Gradients of elements i and i + D / 2 before the turn.
fn turned_back(at: Head, i: u32) -> vec2f {
  let half = shape.head_dim / 2u;
  var d: vec2f;
  if (at.is_query) {
    d = vec2f(d_query[at.out + i], d_query[at.out + half + i]);
  } else {
    d = vec2f(d_own[at.out + i], d_own[at.out + half + i]);
  }
  if (at.is_value) {
    return d;
  }
  let turn = angles[at.angle + i];
  return vec2f(d.x * turn.x + d.y * turn.y, d.y * turn.x - d.x * turn.y);
}

@compute @workgroup_size(64)
fn backward_input(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let at = head_at(workgroup_number(workgroup, workgroups) * 64u + local);
  if (at.row >= shape.rows) {
    return;
  }
  let half = shape.head_dim / 2u;
  let is_normed = shape.has_norms != 0u && !at.is_value;
  var scale = 1.0;
  var along = 0.0;
  if (is_normed) {
    var squares = 0.0;
    for (var i = 0u; i < half; i++) {
      let x = vec2f(qkv[at.start + i], qkv[at.start + half + i]);
      let weight = vec2f(norm_weight(at.is_query, i), norm_weight(at.is_query, half + i));
      squares += dot(x, x);
      along += dot(x, turned_back(at, i) * weight);
    }
    scale = inverseSqrt(squares / f32(shape.head_dim) + shape.epsilon);
    along *= scale * scale / f32(shape.head_dim);
  }
  for (var i = 0u; i < half; i++) {
    var d = turned_back(at, i);
    if (is_normed) {
      let x = vec2f(qkv[at.start + i], qkv[at.start + half + i]);
      let weight = vec2f(norm_weight(at.is_query, i), norm_weight(at.is_query, half + i));
      d = scale * (d * weight - along * x);
    }
    if (shape.accumulates != 0u) {
      d += vec2f(d_qkv[at.start + i], d_qkv[at.start + half + i]);
    }
    d_qkv[at.start + i] = d.x;
    d_qkv[at.start + half + i] = d.y;
  }
  // The last head of a row writes the padding as well.
  if (shape.accumulates == 0u && at.head + 1u == shape.heads + 2u * shape.kv_heads) {
    for (var i = (at.head + 1u) * shape.head_dim; i < shape.qkv_pitch; i++) {
      d_qkv[at.row * shape.qkv_pitch + i] = 0.0;
    }
  }
}

@group(0) @binding(4) var<storage, read> scales_read: array<f32>;
@group(0) @binding(5) var<storage, read> d_heads: array<f32>;
@group(0) @binding(6) var<storage, read_write> d_norm: array<f32>;

var<workgroup> partial_sums: array<f32, WEIGHT_COLUMNS * WEIGHT_LANES>;

@compute @workgroup_size(WEIGHT_COLUMNS, WEIGHT_LANES)
fn backward_weight(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let column = workgroup.x * WEIGHT_COLUMNS + local.x;
  let half = shape.head_dim / 2u;
  let is_low = column < half;
  let pair = select(column - half, column + half, is_low);
  let heads = select(shape.heads, shape.kv_heads, shape.is_key != 0u);
  let heads_of_out = select(shape.heads, 2u * shape.kv_heads, shape.is_key != 0u);
  let first_head = select(0u, shape.heads, shape.is_key != 0u);
  var sum = 0.0;
  if (column < shape.head_dim) {
    for (var i = local.y; i < shape.rows * heads; i += WEIGHT_LANES) {
      let row = i / heads;
      let head = i % heads;
      let known = placement[row];
      let out = (select(row, known.y, shape.is_key != 0u) * heads_of_out + head) * shape.head_pitch;
      let turn = angles[known.x * half + min(column, pair)];
      let back = d_heads[out + column] * turn.x + select(-turn.y, turn.y, is_low) * d_heads[out + pair];
      let x = qkv[row * shape.qkv_pitch + (first_head + head) * shape.head_dim + column];
      sum += x * back * scales_read[row * (shape.heads + shape.kv_heads) + first_head + head];
    }
  }
  let slot = local.y * WEIGHT_COLUMNS + local.x;
  partial_sums[slot] = sum;
  workgroupBarrier();
  for (var share = WEIGHT_LANES / 2u; share > 0u; share /= 2u) {
    if (local.y < share) {
      partial_sums[slot] += partial_sums[slot + share * WEIGHT_COLUMNS];
    }
    workgroupBarrier();
  }
  if (local.y == 0u && column < shape.head_dim) {
    sum = partial_sums[slot];
    if (shape.accumulates != 0u) {
      sum += d_norm[column];
    }
    d_norm[column] = sum;
  }
}

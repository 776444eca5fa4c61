// Losses of rows, and their weighted sum.
//
//   cosine:        output[r] = 1 - cos(a_r, b_r)
//   square:        output[r] = mean over i of (a[r, i] - b[r, i])^2
//   weighted_sum:  output[0] = sum over r of weights[r] * rows[r]
// and the gradients by a (those by b with the two exchanged), or += where it accumulates:
//   backward_cosine:  d_a = -d_output / (|a| |b|) * (b - a * (a . b) / |a|^2)
//   backward_square:  d_a = d_output * 2 (a - b) / C
//   backward_sum:     d_rows[r] = weights[r] * d_output[0]
// a, b [R, C], C padded to a multiple of 4 with zeros; rows, weights and their gradients [R, 1], padded to 4.
// A row of zeros counts as cos 0 and gets no gradient: norms are not taken below 1e-8, as in PyTorch.
// Dispatch: losses and gradients by a ceil(R / ROWS) workgroups, weighted_sum 1, backward_sum ceil(R / 64), folded.
// Preludes: grid.
// Reference: src/reference/losses.ts

override LANES: u32 = 64;
override ROWS: u32 = 1;
override SUM_LANES: u32 = 64;

struct Shape {
  rows: u32,
  width: u32,
  width4: u32,
  accumulates: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> b: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> output: array<vec4f>;
@group(0) @binding(3) var<storage, read> d_output: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> d_a: array<vec4f>;

const SMALLEST_NORM = 1e-8;

var<workgroup> partial_sums: array<vec4f, LANES * ROWS>;

/// Sums over the lanes of a row, for all of them.
fn row_sum(local: vec3u, value: vec4f) -> vec4f {
  if (LANES == 1u) {
    return value;
  }
  let slot = local.y * LANES + local.x;
  partial_sums[slot] = value;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    if (local.x < half) {
      partial_sums[slot] += partial_sums[slot + half];
    }
    workgroupBarrier();
  }
  return partial_sums[local.y * LANES];
}

/// (a . a, b . b, a . b, |a - b|^2) of a row.
fn products(local: vec3u, start: u32) -> vec4f {
  var sums = vec4f();
  for (var i = local.x; i < shape.width4; i += LANES) {
    let x = a[start + i];
    let y = b[start + i];
    sums += vec4f(dot(x, x), dot(y, y), dot(x, y), dot(x - y, x - y));
  }
  return row_sum(local, sums);
}

@compute @workgroup_size(LANES, ROWS)
fn cosine(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let row = workgroup_number(workgroup, workgroups) * ROWS + local.y;
  let sums = products(local, min(row, shape.rows - 1u) * shape.width4);
  if (row < shape.rows && local.x == 0u) {
    let norms = max(sqrt(sums.x), SMALLEST_NORM) * max(sqrt(sums.y), SMALLEST_NORM);
    output[row] = vec4f(1.0 - sums.z / norms, 0.0, 0.0, 0.0);
  }
}

@compute @workgroup_size(LANES, ROWS)
fn square(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let row = workgroup_number(workgroup, workgroups) * ROWS + local.y;
  let sums = products(local, min(row, shape.rows - 1u) * shape.width4);
  if (row < shape.rows && local.x == 0u) {
    output[row] = vec4f(sums.w / f32(shape.width), 0.0, 0.0, 0.0);
  }
}

@compute @workgroup_size(LANES, ROWS)
fn backward_cosine(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let row = workgroup_number(workgroup, workgroups) * ROWS + local.y;
  let start = min(row, shape.rows - 1u) * shape.width4;
  let sums = products(local, start);
  let norm_a = max(sqrt(sums.x), SMALLEST_NORM);
  let norms = norm_a * max(sqrt(sums.y), SMALLEST_NORM);
  let factor = -d_output[min(row, shape.rows - 1u)].x / norms;
  // Two divisions: the square of a small norm would vanish.
  let along = sums.z / norm_a / norm_a;
  let has_direction = sums.x > 0.0 && sums.y > 0.0;
  if (row < shape.rows) {
    for (var i = local.x; i < shape.width4; i += LANES) {
      var gradient = select(vec4f(), factor * (b[start + i] - along * a[start + i]), has_direction);
      if (shape.accumulates != 0u) {
        gradient += d_a[start + i];
      }
      d_a[start + i] = gradient;
    }
  }
}

@compute @workgroup_size(LANES, ROWS)
fn backward_square(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let row = workgroup_number(workgroup, workgroups) * ROWS + local.y;
  if (row >= shape.rows) {
    return;
  }
  let start = row * shape.width4;
  let factor = 2.0 * d_output[row].x / f32(shape.width);
  for (var i = local.x; i < shape.width4; i += LANES) {
    var gradient = factor * (a[start + i] - b[start + i]);
    if (shape.accumulates != 0u) {
      gradient += d_a[start + i];
    }
    d_a[start + i] = gradient;
  }
}

var<workgroup> sums_of_lanes: array<f32, SUM_LANES>;

/// a: rows, b: weights.
@compute @workgroup_size(SUM_LANES)
fn weighted_sum(@builtin(local_invocation_index) lane: u32) {
  var sum = 0.0;
  for (var row = lane; row < shape.rows; row += SUM_LANES) {
    sum += a[row].x * b[row].x;
  }
  sums_of_lanes[lane] = sum;
  workgroupBarrier();
  for (var half = SUM_LANES / 2u; half > 0u; half /= 2u) {
    if (lane < half) {
      sums_of_lanes[lane] += sums_of_lanes[lane + half];
    }
    workgroupBarrier();
  }
  if (lane == 0u) {
    output[0] = vec4f(sums_of_lanes[0], 0.0, 0.0, 0.0);
  }
}

/// b_only: weights, d_sum: d_output.
@compute @workgroup_size(64)
fn backward_sum(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let row = workgroup_number(workgroup, workgroups) * 64u + local;
  if (row >= shape.rows) {
    return;
  }
  var gradient = vec4f(b_only[row].x * d_sum[0].x, 0.0, 0.0, 0.0);
  if (shape.accumulates != 0u) {
    gradient += d_rows[row];
  }
  d_rows[row] = gradient;
}

@group(0) @binding(1) var<storage, read> b_only: array<vec4f>;
@group(0) @binding(2) var<storage, read> d_sum: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> d_rows: array<vec4f>;

// output[r, i] = z[r, i] * weight[i] + bias[i],  z = (input - mean) * s,  s = 1 / sqrt(variance + epsilon)
//
//   backward_input:   d_input = s * (g - mean of g - z * mean of g * z),  g = d_output * weight
//   backward_weight:  d_weight[i] = sum over r of d_output[r, i] * z[r, i]
// or += where it accumulates; the gradient of the bias is linear.wgsl's. Mean and variance (divided by C) are over a row.
// input, output [R, C], weight and bias [C], statistics [R] as (mean, s); C padded to a multiple of 4 with zeros.
// Dispatch: forward and backward_input ceil(R / ROWS) workgroups, folded; backward_weight ceil(C4 / WEIGHT_COLUMNS).
// Preludes: grid.
// Reference: src/reference/layerNorm.ts

override LANES: u32 = 64;
override ROWS: u32 = 1;
override WEIGHT_COLUMNS: u32 = 8;
override WEIGHT_LANES: u32 = 16;

struct Shape {
  rows: u32,
  width: u32,
  width4: u32,
  epsilon: f32,
  accumulates: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> input: array<vec4f>;

@group(0) @binding(2) var<storage, read> weight: array<vec4f>;
@group(0) @binding(3) var<storage, read> bias: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> statistics: array<vec2f>;
@group(0) @binding(5) var<storage, read_write> output: array<vec4f>;

@group(0) @binding(3) var<storage, read> row_statistics: array<vec2f>;
@group(0) @binding(4) var<storage, read> d_output: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> d_input: array<vec4f>;

@group(0) @binding(2) var<storage, read_write> d_weight: array<vec4f>;

var<workgroup> partial_sums: array<vec2f, LANES * ROWS>;

/// Sums over the lanes of a row, for all of them.
fn row_sum(local: vec3u, value: vec2f) -> vec2f {
  if (LANES == 1u) {
    return value;
  }
  let slot = local.y * LANES + local.x;
  // What an earlier sum left may still be read.
  workgroupBarrier();
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

/// 1 for the elements of vec4 i that are inside the row, 0 for padding.
fn inside(i: u32) -> vec4f {
  return select(vec4f(), vec4f(1.0), vec4u(i * 4u) + vec4u(0u, 1u, 2u, 3u) < vec4u(shape.width));
}

@compute @workgroup_size(LANES, ROWS)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let row = workgroup_number(workgroup, workgroups) * ROWS + local.y;
  // Rows past the end read the last one and write nothing, so that barriers stay uniform.
  let start = min(row, shape.rows - 1u) * shape.width4;
  var sum = 0.0;
  for (var i = local.x; i < shape.width4; i += LANES) {
    sum += dot(input[start + i], vec4f(1.0));
  }
  let mean = row_sum(local, vec2f(sum, 0.0)).x / f32(shape.width);
  // Around the mean, as the difference of two large sums would lose its digits.
  sum = 0.0;
  for (var i = local.x; i < shape.width4; i += LANES) {
    let off = (input[start + i] - mean) * inside(i);
    sum += dot(off, off);
  }
  let scale = inverseSqrt(row_sum(local, vec2f(sum, 0.0)).x / f32(shape.width) + shape.epsilon);
  if (row < shape.rows) {
    for (var i = local.x; i < shape.width4; i += LANES) {
      output[start + i] = ((input[start + i] - mean) * scale * weight[i] + bias[i]) * inside(i);
    }
    if (local.x == 0u) {
      statistics[row] = vec2f(mean, scale);
    }
  }
}

@compute @workgroup_size(LANES, ROWS)
fn backward_input(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let row = workgroup_number(workgroup, workgroups) * ROWS + local.y;
  let start = min(row, shape.rows - 1u) * shape.width4;
  let own = row_statistics[min(row, shape.rows - 1u)];
  var sums = vec2f();
  for (var i = local.x; i < shape.width4; i += LANES) {
    let g = d_output[start + i] * weight[i];
    sums += vec2f(dot(g, vec4f(1.0)), dot(g, (input[start + i] - own.x) * own.y));
  }
  sums = row_sum(local, sums) / f32(shape.width);
  if (row < shape.rows) {
    for (var i = local.x; i < shape.width4; i += LANES) {
      let z = (input[start + i] - own.x) * own.y;
      var gradient = own.y * (d_output[start + i] * weight[i] - sums.x - z * sums.y) * inside(i);
      if (shape.accumulates != 0u) {
        gradient += d_input[start + i];
      }
      d_input[start + i] = gradient;
    }
  }
}

var<workgroup> column_sums: array<vec4f, WEIGHT_COLUMNS * WEIGHT_LANES>;

@compute @workgroup_size(WEIGHT_COLUMNS, WEIGHT_LANES)
fn backward_weight(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let column = workgroup.x * WEIGHT_COLUMNS + local.x;
  var sum = vec4f();
  if (column < shape.width4) {
    for (var row = local.y; row < shape.rows; row += WEIGHT_LANES) {
      let at = row * shape.width4 + column;
      let own = row_statistics[row];
      sum += d_output[at] * (input[at] - own.x) * own.y;
    }
  }
  let slot = local.y * WEIGHT_COLUMNS + local.x;
  column_sums[slot] = sum;
  workgroupBarrier();
  for (var half = WEIGHT_LANES / 2u; half > 0u; half /= 2u) {
    if (local.y < half) {
      column_sums[slot] += column_sums[slot + half * WEIGHT_COLUMNS];
    }
    workgroupBarrier();
  }
  if (local.y == 0u && column < shape.width4) {
    sum = column_sums[slot];
    if (shape.accumulates != 0u) {
      sum += d_weight[column];
    }
    d_weight[column] = sum;
  }
}

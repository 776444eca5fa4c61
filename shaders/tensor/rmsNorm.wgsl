// Gradients of output[r, i] = input[r, i] * s[r] * weight[i],  s[r] = 1 / sqrt(mean of input[r, :]^2 + epsilon)
// (forward: shaders/rmsNorm.wgsl)
//
//   backward_input:   d_input[r, i] = s * (g_i - input_i * s^2 * mean of g * input),  g = d_output * weight
//   backward_weight:  d_weight[i] = sum over r of d_output[r, i] * input[r, i] * s[r]
// or += where it accumulates. input, d_output [R, C], weight [C], scales [R]; C padded to a multiple of 4 with zeros.
// `scales` computes s for backward_weight.
// Dispatch: backward_input and scales ceil(R / ROWS) workgroups, folded; backward_weight ceil(C4 / WEIGHT_COLUMNS).
// Preludes: grid.
// Reference: src/reference/rmsNorm.ts

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
@group(0) @binding(2) var<storage, read> d_output: array<vec4f>;
@group(0) @binding(3) var<storage, read> weight: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> d_input: array<vec4f>;

@group(0) @binding(2) var<storage, read_write> row_scales: array<f32>;

@group(0) @binding(3) var<storage, read> scales_read: array<f32>;
@group(0) @binding(4) var<storage, read_write> d_weight: array<vec4f>;

var<workgroup> partial_sums: array<vec2f, LANES * ROWS>;

/// Sums over the lanes of a row, for all of them.
fn row_sum(local: vec3u, value: vec2f) -> vec2f {
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

@compute @workgroup_size(LANES, ROWS)
fn backward_input(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let row = workgroup_number(workgroup, workgroups) * ROWS + local.y;
  // Rows past the end read the last one and write nothing, so that barriers stay uniform.
  let start = min(row, shape.rows - 1u) * shape.width4;
  var sums = vec2f();
  for (var i = local.x; i < shape.width4; i += LANES) {
    let x = input[start + i];
    sums += vec2f(dot(x, x), dot(x, d_output[start + i] * weight[i]));
  }
  sums = row_sum(local, sums) / f32(shape.width);
  let scale = inverseSqrt(sums.x + shape.epsilon);
  let along = sums.y * scale * scale;
  if (row < shape.rows) {
    for (var i = local.x; i < shape.width4; i += LANES) {
      var gradient = scale * (d_output[start + i] * weight[i] - along * input[start + i]);
      if (shape.accumulates != 0u) {
        gradient += d_input[start + i];
      }
      d_input[start + i] = gradient;
    }
  }
}

@compute @workgroup_size(LANES, ROWS)
fn scales(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let row = workgroup_number(workgroup, workgroups) * ROWS + local.y;
  let start = min(row, shape.rows - 1u) * shape.width4;
  var sum = 0.0;
  for (var i = local.x; i < shape.width4; i += LANES) {
    let x = input[start + i];
    sum += dot(x, x);
  }
  sum = row_sum(local, vec2f(sum, 0.0)).x;
  if (row < shape.rows && local.x == 0u) {
    row_scales[row] = inverseSqrt(sum / f32(shape.width) + shape.epsilon);
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
      sum += d_output[at] * input[at] * scales_read[row];
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

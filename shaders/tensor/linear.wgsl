// Gradients of output[r, n] = sum over k of input[r, k] * weight[n, k] + bias[n] (forward: shaders/matmul.wgsl)
//
//   backward_input:   d_input[r, k]  = sum over n of d_output[r, n] * weight[n, k]
//   backward_weight:  d_weight[n, k] = sum over r of d_output[r, n] * input[r, k]
//   backward_bias:    d_bias[n]      = sum over r of d_output[r, n]
// or += where it accumulates. input [R, K], weight [N, K], d_output [R, N]; rows padded to multiples of 4 with zeros.
//
// Both products run along rows of what they read: an invocation holds 8 rows by one vec4 (input) or 8 weight rows by
// one vec4 (weight) of sums in registers.
// Dispatch: backward_input [ceil(K4 / 32), ceil(R / 8)], backward_weight [ceil(K4 / 32), ceil(N / 8)] workgroups,
// backward_bias ceil(N4 / BIAS_COLUMNS) workgroups. Preludes: weight*.
// Reference: src/reference/linear.ts

override BIAS_COLUMNS: u32 = 8;
/// Invocations that share a column of the bias, a power of two.
override BIAS_LANES: u32 = 16;

struct Shape {
  rows: u32,
  /// Width of input and weight, in vec4s.
  in4: u32,
  /// Width of the output, and the same in vec4s.
  out: u32,
  out4: u32,
  accumulates: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> d_output: array<vec4f>;
@group(0) @binding(2) var<storage, read> weight: array<WeightWord>;
@group(0) @binding(2) var<storage, read> input: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> d_input: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> d_weight: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> d_bias: array<vec4f>;

@compute @workgroup_size(32)
fn backward_input(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) local: u32) {
  let column = workgroup.x * 32u + local;
  let row = workgroup.y * 8u;
  if (column >= shape.in4) {
    return;
  }
  // Rows past the end repeat the last one; their sums are not stored.
  let last = shape.rows - 1u;
  let d0 = min(row, last) * shape.out4;
  let d1 = min(row + 1u, last) * shape.out4;
  let d2 = min(row + 2u, last) * shape.out4;
  let d3 = min(row + 3u, last) * shape.out4;
  let d4 = min(row + 4u, last) * shape.out4;
  let d5 = min(row + 5u, last) * shape.out4;
  let d6 = min(row + 6u, last) * shape.out4;
  let d7 = min(row + 7u, last) * shape.out4;
  var sums: array<vec4f, 8>;
  for (var n4 = 0u; n4 < shape.out4; n4++) {
    // The padding of d_output is zero, so that weight rows past the end, which repeat the last one, add nothing.
    let n = n4 * 4u;
    let w = mat4x4f(
      weight_at(n * shape.in4 + column),
      weight_at(min(n + 1u, shape.out - 1u) * shape.in4 + column),
      weight_at(min(n + 2u, shape.out - 1u) * shape.in4 + column),
      weight_at(min(n + 3u, shape.out - 1u) * shape.in4 + column),
    );
    sums[0] += w * d_output[d0 + n4];
    sums[1] += w * d_output[d1 + n4];
    sums[2] += w * d_output[d2 + n4];
    sums[3] += w * d_output[d3 + n4];
    sums[4] += w * d_output[d4 + n4];
    sums[5] += w * d_output[d5 + n4];
    sums[6] += w * d_output[d6 + n4];
    sums[7] += w * d_output[d7 + n4];
  }
  for (var r = 0u; r < min(8u, shape.rows - row); r++) {
    let at = (row + r) * shape.in4 + column;
    if (shape.accumulates != 0u) {
      sums[r] += d_input[at];
    }
    d_input[at] = sums[r];
  }
}

@compute @workgroup_size(32)
fn backward_weight(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) local: u32) {
  let column = workgroup.x * 32u + local;
  let n4 = workgroup.y * 2u;
  if (column >= shape.in4) {
    return;
  }
  let second = min(n4 + 1u, shape.out4 - 1u);
  var sums: array<vec4f, 8>;
  for (var row = 0u; row < shape.rows; row++) {
    let x = input[row * shape.in4 + column];
    let a = d_output[row * shape.out4 + n4];
    let b = d_output[row * shape.out4 + second];
    sums[0] += a.x * x;
    sums[1] += a.y * x;
    sums[2] += a.z * x;
    sums[3] += a.w * x;
    sums[4] += b.x * x;
    sums[5] += b.y * x;
    sums[6] += b.z * x;
    sums[7] += b.w * x;
  }
  for (var j = 0u; j < min(8u, shape.out - n4 * 4u); j++) {
    let at = (n4 * 4u + j) * shape.in4 + column;
    if (shape.accumulates != 0u) {
      sums[j] += d_weight[at];
    }
    d_weight[at] = sums[j];
  }
}

var<workgroup> partial_sums: array<vec4f, BIAS_COLUMNS * BIAS_LANES>;

@compute @workgroup_size(BIAS_COLUMNS, BIAS_LANES)
fn backward_bias(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let column = workgroup.x * BIAS_COLUMNS + local.x;
  var sum = vec4f();
  if (column < shape.out4) {
    for (var row = local.y; row < shape.rows; row += BIAS_LANES) {
      sum += d_output[row * shape.out4 + column];
    }
  }
  let slot = local.y * BIAS_COLUMNS + local.x;
  partial_sums[slot] = sum;
  workgroupBarrier();
  for (var half = BIAS_LANES / 2u; half > 0u; half /= 2u) {
    if (local.y < half) {
      partial_sums[slot] += partial_sums[slot + half * BIAS_COLUMNS];
    }
    workgroupBarrier();
  }
  if (local.y == 0u && column < shape.out4) {
    sum = partial_sums[slot];
    if (shape.accumulates != 0u) {
      sum += d_bias[column];
    }
    d_bias[column] = sum;
  }
}

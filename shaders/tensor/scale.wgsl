// output = factor * input, the factor a number or a learnable [1, 1]
//
//   backward_input:   d_input = factor * d_output, or += where it accumulates (the same kernel as forward)
//   backward_weight:  d_factor = sum of d_output * input, in two steps: WORKGROUPS partial sums, then their sum
// Elementwise, in vec4s; padding is zero.
// Dispatch: forward one invocation for each vec4, folded; partial_sums WORKGROUPS, backward_weight 1 workgroup.
// Preludes: grid.
// Reference: src/reference/elementwise.ts

override LANES: u32 = 64;

struct Shape {
  vec4s: u32,
  factor: f32,
  accumulates: u32,
  /// Workgroups of partial_sums.
  parts: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> input: array<vec4f>;
@group(0) @binding(2) var<storage, read> factor: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<vec4f>;
@group(0) @binding(2) var<storage, read> d_output: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> partials: array<f32>;
@group(0) @binding(1) var<storage, read> partials_read: array<f32>;
@group(0) @binding(2) var<storage, read_write> d_factor: array<f32>;

/// The learnable factor times the number `shape.factor`.
@compute @workgroup_size(64)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * 64u + local;
  if (index >= shape.vec4s) {
    return;
  }
  var value = input[index] * (shape.factor * factor[0]);
  if (shape.accumulates != 0u) {
    value += output[index];
  }
  output[index] = value;
}

var<workgroup> sums: array<f32, LANES>;

fn workgroup_sum(lane: u32, value: f32) -> f32 {
  sums[lane] = value;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    if (lane < half) {
      sums[lane] += sums[lane + half];
    }
    workgroupBarrier();
  }
  return sums[0];
}

@compute @workgroup_size(LANES)
fn partial_sums(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) lane: u32) {
  var sum = 0.0;
  for (var i = workgroup.x * LANES + lane; i < shape.vec4s; i += shape.parts * LANES) {
    sum += dot(input[i], d_output[i]);
  }
  sum = workgroup_sum(lane, sum);
  if (lane == 0u) {
    partials[workgroup.x] = sum;
  }
}

@compute @workgroup_size(LANES)
fn backward_weight(@builtin(local_invocation_index) lane: u32) {
  var sum = 0.0;
  for (var i = lane; i < shape.parts; i += LANES) {
    sum += partials_read[i];
  }
  sum = workgroup_sum(lane, sum) * shape.factor;
  if (lane == 0u) {
    if (shape.accumulates != 0u) {
      sum += d_factor[0];
    }
    // A [1, 1] tensor is padded to four elements.
    d_factor[0] = sum;
    d_factor[1] = 0.0;
    d_factor[2] = 0.0;
    d_factor[3] = 0.0;
  }
}

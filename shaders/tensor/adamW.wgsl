// One step of AdamW (Loshchilov and Hutter 2019) with clipping of the global norm, and a stop when a number is not finite.
//
//   square_sums:  sums[part] = (sum of squares, how many are not finite) of a share of one gradient
//   finish_norm:  statistics = (loss, norm of all gradients, factor that clips it to max_norm, how many are not finite)
//   update:       g = gradient * factor;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2
//                 w = w - rate * (m / c1 / (sqrt(v / c2) + epsilon) + decay * w),   c1 = 1 - b1^t, c2 = 1 - b2^t
//   Nothing is updated when a gradient or the loss is not finite.
// weight, gradient, m, v: vec4s; padding is zero and stays so.
// Dispatch: square_sums PARTS workgroups, finish_norm 1, update one invocation for each vec4, folded. Preludes: grid.
// Reference: src/reference/adamW.ts

override LANES: u32 = 64;

struct Parameter {
  vec4s: u32,
  /// Workgroups of square_sums, and the first one's place in sums.
  parts: u32,
  first_part: u32,
}

struct Step {
  rate: f32,
  beta1: f32,
  beta2: f32,
  epsilon: f32,
  decay: f32,
  /// 1 - beta^t
  correction1: f32,
  correction2: f32,
  max_norm: f32,
  /// All parts of all gradients.
  parts: u32,
}

@group(0) @binding(0) var<uniform> parameter: Parameter;
@group(0) @binding(1) var<storage, read> gradient: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> sums: array<vec2f>;

var<workgroup> shared_sums: array<vec2f, LANES>;

fn workgroup_sum(lane: u32, value: vec2f) -> vec2f {
  shared_sums[lane] = value;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    if (lane < half) {
      shared_sums[lane] += shared_sums[lane + half];
    }
    workgroupBarrier();
  }
  return shared_sums[0];
}

/// How many of four numbers are NaN or infinite: all bits of the exponent are set. Compilers may assume that there are
/// no such numbers, but not that there are no such bits.
fn not_finite(values: vec4f) -> f32 {
  let exponents = bitcast<vec4u>(values) & vec4u(0x7f800000u);
  return dot(select(vec4f(), vec4f(1.0), exponents == vec4u(0x7f800000u)), vec4f(1.0));
}

@compute @workgroup_size(LANES)
fn square_sums(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) lane: u32) {
  var sum = vec2f();
  for (var i = workgroup.x * LANES + lane; i < parameter.vec4s; i += parameter.parts * LANES) {
    let g = gradient[i];
    sum += vec2f(dot(g, g), not_finite(g));
  }
  sum = workgroup_sum(lane, sum);
  if (lane == 0u) {
    sums[parameter.first_part + workgroup.x] = sum;
  }
}

@group(0) @binding(0) var<storage, read> step: Step;
@group(0) @binding(1) var<storage, read> all_sums: array<vec2f>;
@group(0) @binding(2) var<storage, read> loss: array<f32>;
@group(0) @binding(3) var<storage, read_write> statistics: array<vec4f>;

@compute @workgroup_size(LANES)
fn finish_norm(@builtin(local_invocation_index) lane: u32) {
  var sum = vec2f();
  for (var i = lane; i < step.parts; i += LANES) {
    sum += all_sums[i];
  }
  sum = workgroup_sum(lane, sum);
  if (lane == 0u) {
    let norm = sqrt(sum.x);
    // The sum of finite squares may overflow too.
    let faults = sum.y + not_finite(vec4f(loss[0], norm, 0.0, 0.0));
    let factor = select(1.0, step.max_norm / (norm + 1e-6), step.max_norm > 0.0 && norm > step.max_norm);
    statistics[0] = vec4f(loss[0], norm, factor, faults);
  }
}

@group(0) @binding(1) var<uniform> updated: Parameter;
@group(0) @binding(2) var<storage, read> found: array<vec4f>;
@group(0) @binding(3) var<storage, read> own_gradient: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> weight: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> first_moment: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> second_moment: array<vec4f>;

@compute @workgroup_size(64)
fn update(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * 64u + local;
  if (index >= updated.vec4s || found[0].w != 0.0) {
    return;
  }
  let g = own_gradient[index] * found[0].z;
  let m = step.beta1 * first_moment[index] + (1.0 - step.beta1) * g;
  let v = step.beta2 * second_moment[index] + (1.0 - step.beta2) * g * g;
  let w = weight[index];
  first_moment[index] = m;
  second_moment[index] = v;
  let direction = m / step.correction1 / (sqrt(v / step.correction2) + step.epsilon);
  weight[index] = w - step.rate * (direction + step.decay * w);
}

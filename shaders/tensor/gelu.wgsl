// output = x * F(x), F the normal distribution: F(x) = (1 + erf(x / sqrt 2)) / 2
//
//   backward_input:  d_input = d_output * (F(x) + x * exp(-x^2 / 2) / sqrt(2 pi)),  or += where it accumulates
// Elementwise, in vec4s. F comes from the complementary error function, so that its small values keep their digits.
// Dispatch: one invocation for each vec4, folded. Preludes: grid.
// Reference: src/reference/gelu.ts

struct Shape {
  vec4s: u32,
  accumulates: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> input: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> output: array<vec4f>;
@group(0) @binding(2) var<storage, read> d_output: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> d_input: array<vec4f>;

/// The normal distribution, with a relative error of about 1e-6 below zero. With z = |x| / sqrt 2, erfc(z) is
/// exp(-z^2) times a smooth function, here a polynomial in t = 1 / (1 + z / 2). Source of the coefficients: the
/// Chebyshev fit of Press et al., Numerical Recipes, section 6.2, relative error at most 1.2e-7.
fn normal(x: vec4f) -> vec4f {
  let z = abs(x) * 0.70710678;
  let t = 1.0 / (1.0 + 0.5 * z);
  var p = vec4f(0.17087277);
  p = p * t - 0.82215223;
  p = p * t + 1.48851587;
  p = p * t - 1.13520398;
  p = p * t + 0.27886807;
  p = p * t - 0.18628806;
  p = p * t + 0.09678418;
  p = p * t + 0.37409196;
  p = p * t + 1.00002368;
  p = p * t - 1.26551223;
  let tail = 0.5 * t * exp(max(p - z * z, vec4f(-87.0)));
  return select(1.0 - tail, tail, x < vec4f());
}

@compute @workgroup_size(64)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * 64u + local;
  if (index < shape.vec4s) {
    let x = input[index];
    output[index] = x * normal(x);
  }
}

@compute @workgroup_size(64)
fn backward_input(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * 64u + local;
  if (index >= shape.vec4s) {
    return;
  }
  let x = input[index];
  let density = 0.39894228 * exp(max(-0.5 * x * x, vec4f(-87.0)));
  var gradient = d_output[index] * (normal(x) + x * density);
  if (shape.accumulates != 0u) {
    gradient += d_input[index];
  }
  d_input[index] = gradient;
}

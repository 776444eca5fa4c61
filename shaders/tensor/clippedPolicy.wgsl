// output[r] = -min(ratio * A, clamp(ratio, 1 - low, 1 + high) * A) + kl * (exp(d) - d - 1)
//   ratio = exp(input[r] - old[r]),  d = reference[r] - input[r]: the losses of tokens of PPO's clipped objective
//   (Schulman et al. 2017) with an estimate of the divergence from a reference policy (Schulman 2020, "k3")
//
//   backward_input:  d_input[r] = d_output[r] * (-(A * ratio where the unclipped term is the smaller) + kl * (1 - exp(d)))
// or += where it accumulates. All [R, 1], padded to 4; inputs are log-probabilities.
// Dispatch: ceil(R / 64) workgroups, folded. Preludes: grid.
// Reference: src/reference/losses.ts

struct Shape {
  rows: u32,
  low: f32,
  high: f32,
  kl: f32,
  accumulates: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> input: array<vec4f>;
/// (old log-probability, advantage, reference log-probability, 0)
@group(0) @binding(2) var<storage, read> constants: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> output: array<vec4f>;
@group(0) @binding(3) var<storage, read> d_output: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> d_input: array<vec4f>;

/// Beyond these exponents the ratio is clipped, or means nothing any more; exp must not overflow.
fn bounded_exp(x: f32) -> f32 {
  return exp(clamp(x, -80.0, 80.0));
}

@compute @workgroup_size(64)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let row = workgroup_number(workgroup, workgroups) * 64u + local;
  if (row >= shape.rows) {
    return;
  }
  let known = constants[row];
  let log_probability = input[row].x;
  let ratio = bounded_exp(log_probability - known.x);
  let gain = min(ratio * known.y, clamp(ratio, 1.0 - shape.low, 1.0 + shape.high) * known.y);
  let difference = known.z - log_probability;
  output[row] = vec4f(shape.kl * (bounded_exp(difference) - difference - 1.0) - gain, 0.0, 0.0, 0.0);
}

@compute @workgroup_size(64)
fn backward_input(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let row = workgroup_number(workgroup, workgroups) * 64u + local;
  if (row >= shape.rows) {
    return;
  }
  let known = constants[row];
  let log_probability = input[row].x;
  let ratio = bounded_exp(log_probability - known.x);
  let clipped = clamp(ratio, 1.0 - shape.low, 1.0 + shape.high);
  let slope = select(0.0, known.y * ratio, ratio * known.y <= clipped * known.y);
  let pull = shape.kl * (1.0 - bounded_exp(known.z - log_probability));
  var gradient = vec4f(d_output[row].x * (pull - slope), 0.0, 0.0, 0.0);
  if (shape.accumulates != 0u) {
    gradient += d_input[row];
  }
  d_input[row] = gradient;
}

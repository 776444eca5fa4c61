// output[r, i] = silu(gate) * up,  gate = input[r, i], up = input[r, C + i],  silu(x) = x * sigmoid(x)
//
//   backward_input:  d_gate = d_output * up * sigmoid(gate) * (1 + gate * (1 - sigmoid(gate))),  d_up = d_output * silu(gate)
// or += where it accumulates. input [R, 2 C], output [R, C]; rows padded to multiples of 4 with zeros.
// Dispatch: one invocation for each of R * pitch elements (forward: of the output; backward: of the input), folded.
// Preludes: grid.
// Reference: src/reference/swiglu.ts

struct Shape {
  rows: u32,
  width: u32,
  in_pitch: u32,
  out_pitch: u32,
  accumulates: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;
@group(0) @binding(2) var<storage, read> d_output: array<f32>;
@group(0) @binding(3) var<storage, read_write> d_input: array<f32>;

/// exp must not overflow: below -80 the sigmoid is zero to f32 anyway.
fn sigmoid(x: f32) -> f32 {
  return 1.0 / (1.0 + exp(-max(x, -80.0)));
}

@compute @workgroup_size(64)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * 64u + local;
  let row = index / shape.out_pitch;
  if (row >= shape.rows) {
    return;
  }
  let i = index % shape.out_pitch;
  var value = 0.0;
  if (i < shape.width) {
    let gate = input[row * shape.in_pitch + i];
    value = gate * sigmoid(gate) * input[row * shape.in_pitch + shape.width + i];
  }
  output[index] = value;
}

@compute @workgroup_size(64)
fn backward_input(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * 64u + local;
  let row = index / shape.in_pitch;
  if (row >= shape.rows) {
    return;
  }
  let i = index % shape.in_pitch;
  var value = 0.0;
  if (i < 2u * shape.width) {
    let column = select(i - shape.width, i, i < shape.width);
    let gate = input[row * shape.in_pitch + column];
    let up = input[row * shape.in_pitch + shape.width + column];
    let d = d_output[row * shape.out_pitch + column];
    let s = sigmoid(gate);
    value = d * select(gate * s, up * s * (1.0 + gate * (1.0 - s)), i < shape.width);
  }
  if (shape.accumulates != 0u) {
    value += d_input[index];
  }
  d_input[index] = value;
}

// output[r, i] = silu(gate) * up,  gate = input[r, i], up = input[r, C + i],  silu(x) = x * sigmoid(x)
//
//   backward_input:  d_gate = d_output * up * sigmoid(gate) * (1 + gate * (1 - sigmoid(gate))),  d_up = d_output * silu(gate)
// or += where it accumulates. input [R, 2 C], output [R, C]; rows padded to multiples of 4 with zeros.
// Dispatch: one invocation for each vec4 of the output, folded. Preludes: grid.
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
  let row = index / (shape.out_pitch / 4u);
  if (row >= shape.rows) {
    return;
  }
  let first = index % (shape.out_pitch / 4u) * 4u;
  let gates = row * shape.in_pitch + first;
  for (var i = 0u; i < 4u; i++) {
    var value = 0.0;
    if (first + i < shape.width) {
      let gate = input[gates + i];
      value = gate * sigmoid(gate) * input[gates + shape.width + i];
    }
    output[index * 4u + i] = value;
  }
}

@compute @workgroup_size(64)
fn backward_input(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * 64u + local;
  let row = index / (shape.out_pitch / 4u);
  if (row >= shape.rows) {
    return;
  }
  let first = index % (shape.out_pitch / 4u) * 4u;
  let gates = row * shape.in_pitch + first;
  for (var i = 0u; i < min(4u, shape.width - first); i++) {
    let gate = input[gates + i];
    let up = input[gates + shape.width + i];
    let d = d_output[index * 4u + i];
    let s = sigmoid(gate);
    var d_gate = d * up * s * (1.0 + gate * (1.0 - s));
    var d_up = d * gate * s;
    if (shape.accumulates != 0u) {
      d_gate += d_input[gates + i];
      d_up += d_input[gates + shape.width + i];
    }
    d_input[gates + i] = d_gate;
    d_input[gates + shape.width + i] = d_up;
  }
  // The last columns' invocation writes the padding as well.
  if (shape.accumulates == 0u && first + 4u >= shape.width) {
    for (var i = 2u * shape.width; i < shape.in_pitch; i++) {
      d_input[row * shape.in_pitch + i] = 0.0;
    }
  }
}

// output[r, out_start + g * out_step + i] = input[r, in_start + g * in_step + i]  for i < width, or += it
//
// Takes columns out of rows and puts them into rows, in groups: heads out of a fused projection, for instance. Elements
// of the output between its groups are not touched, but with `pads` a group's elements from width to out_step become
// zero. The gradient of a regrouping is the opposite one.
// Dispatch: one invocation for each of R * groups * (out_step where it pads, else width) elements, folded. Preludes: grid.
// Reference: none; a copy.

struct Shape {
  rows: u32,
  groups: u32,
  width: u32,
  in_pitch: u32,
  in_start: u32,
  in_step: u32,
  out_pitch: u32,
  out_start: u32,
  out_step: u32,
  pads: u32,
  accumulates: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(64)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * 64u + local;
  let written = select(shape.width, shape.out_step, shape.pads != 0u);
  let row = index / (shape.groups * written);
  if (row >= shape.rows) {
    return;
  }
  let group = index / written % shape.groups;
  let i = index % written;
  var value = 0.0;
  if (i < shape.width) {
    value = input[row * shape.in_pitch + shape.in_start + group * shape.in_step + i];
  }
  let at = row * shape.out_pitch + shape.out_start + group * shape.out_step + i;
  if (shape.accumulates != 0u) {
    value += output[at];
  }
  output[at] = value;
}

// Rotary embedding in the half-split layout: element i of a head turns with element i + D / 2 by the angle
// position * theta^(-2 i / D). The gradient turns back: direction -1.
//
// input, output [R * HEADS, D], one head a row, padded to a multiple of 4; positions [R].
// Cosines and sines of large angles lose digits in f32 on some devices: the table is computed in f64 by the caller,
// angles [positions, D / 2] as (cos, sin).
// Dispatch: one invocation for each of R * HEADS * pitch elements, folded. Preludes: grid.
// Reference: src/reference/rope.ts

struct Shape {
  rows: u32,
  heads: u32,
  head_dim: u32,
  pitch: u32,
  direction: f32,
  accumulates: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read> positions: array<u32>;
@group(0) @binding(3) var<storage, read> angles: array<vec2f>;
@group(0) @binding(4) var<storage, read_write> output: array<f32>;

@compute @workgroup_size(64)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * 64u + local;
  let head = index / shape.pitch;
  if (head >= shape.rows * shape.heads) {
    return;
  }
  let i = index % shape.pitch;
  var value = 0.0;
  if (i < shape.head_dim) {
    let half = shape.head_dim / 2u;
    let is_low = i < half;
    let pair = select(i - half, i + half, is_low);
    let turn = angles[positions[head / shape.heads] * half + min(i, pair)];
    let sine = turn.y * shape.direction;
    let other = input[head * shape.pitch + pair];
    value = input[index] * turn.x + select(other, -other, is_low) * sine;
  }
  if (shape.accumulates != 0u) {
    value += output[index];
  }
  output[index] = value;
}

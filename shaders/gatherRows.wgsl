// output[moves[i].y, :] = input[moves[i].x, :]
//
// Takes the last row of each sequence out of a pass, so that only these go through the head.
// moves [this_pass.rows], input and output [*, C] with C padded to a multiple of 4.
// Dispatch: one invocation for each of moves * C / 4 vec4s, folded. Preludes: grid, rows.
// Reference: none; a copy.

override WIDTH4: u32;

@group(0) @binding(0) var<uniform> this_pass: Pass;
@group(0) @binding(1) var<storage, read> moves: array<vec2u>;
@group(0) @binding(2) var<storage, read> input: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> output: array<vec4f>;

@compute @workgroup_size(64)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * 64u + local;
  if (index / WIDTH4 < this_pass.rows) {
    let pair = moves[index / WIDTH4];
    output[pair.y * WIDTH4 + index % WIDTH4] = input[pair.x * WIDTH4 + index % WIDTH4];
  }
}

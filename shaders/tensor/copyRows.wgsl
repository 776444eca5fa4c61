// output[out_start + i] = input[in_start + i], or += where it accumulates
//
// Runs of whole rows, counted in vec4s. Copies both ways, as the gradient of a copy is a copy.
// Dispatch: one invocation for each vec4, folded. Preludes: grid.
// Reference: none; a copy.

struct Run {
  vec4s: u32,
  in_start: u32,
  out_start: u32,
  accumulates: u32,
}

@group(0) @binding(0) var<uniform> run: Run;
@group(0) @binding(1) var<storage, read> input: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> output: array<vec4f>;

@compute @workgroup_size(64)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * 64u + local;
  if (index >= run.vec4s) {
    return;
  }
  var value = input[run.in_start + index];
  if (run.accumulates != 0u) {
    value += output[run.out_start + index];
  }
  output[run.out_start + index] = value;
}

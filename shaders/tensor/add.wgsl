// output = a + b
//
// Elementwise, in vec4s. The gradient of either is the output's.
// Dispatch: one invocation for each vec4, folded. Preludes: grid.
// Reference: src/reference/elementwise.ts

@group(0) @binding(0) var<uniform> vec4s: u32;
@group(0) @binding(1) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> b: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> output: array<vec4f>;

@compute @workgroup_size(64)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * 64u + local;
  if (index < vec4s) {
    output[index] = a[index] + b[index];
  }
}

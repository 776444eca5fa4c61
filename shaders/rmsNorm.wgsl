// output[r, i] = input[r, i] / sqrt(mean of input[r, :]^2 + EPSILON) * weight[i]
//
// input, output [R, C], weight [C]; C is padded to a multiple of 4 with zeros.
// A workgroup holds ROWS rows of LANES invocations each (LANES a power of two). With LANES of 1 there is no barrier:
// best on devices without fast workgroup memory.
// Dispatch: ceil(R / ROWS) workgroups, folded. Preludes: grid, rows.
// Reference: src/reference/rmsNorm.ts

override WIDTH: u32;
override WIDTH4: u32;
override EPSILON: f32;
override LANES: u32 = 64;
override ROWS: u32 = 1;

@group(0) @binding(0) var<uniform> this_pass: Pass;
@group(0) @binding(1) var<storage, read> input: array<vec4f>;
@group(0) @binding(2) var<storage, read> weight: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> output: array<vec4f>;

var<workgroup> partial_sums: array<f32, LANES * ROWS>;

@compute @workgroup_size(LANES, ROWS)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let row = workgroup_number(workgroup, workgroups) * ROWS + local.y;
  let lane = local.x;
  // Rows past the end read the last one and write nothing, so that barriers stay uniform.
  let start = min(row, this_pass.rows - 1u) * WIDTH4;

  let width4 = WIDTH4 + this_pass.zero;
  var sum = 0.0;
  for (var i = lane; i < width4; i += LANES) {
    let x = input[start + i];
    sum += dot(x, x);
  }
  if (LANES > 1u) {
    partial_sums[local.y * LANES + lane] = sum;
    workgroupBarrier();
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
      if (lane < half) {
        partial_sums[local.y * LANES + lane] += partial_sums[local.y * LANES + lane + half];
      }
      workgroupBarrier();
    }
    sum = partial_sums[local.y * LANES];
  }

  let scale = inverseSqrt(sum / f32(WIDTH) + EPSILON);
  if (row < this_pass.rows) {
    for (var i = lane; i < width4; i += LANES) {
      output[start + i] = input[start + i] * scale * weight[i];
    }
  }
}

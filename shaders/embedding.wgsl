// output[r, :] = weight[ids[r], :]
//
// The table may be split by rows into parts that fit one binding: a dispatch writes only the rows whose ids lie in its
// part, [PART_START, PART_START + PART_ROWS). Rows that stand for embeddings given by the caller have the id 0xffffffff.
// ids [R], weight [PART_ROWS, C], output [R, C]; C is padded to a multiple of 4 with zeros.
// Dispatch: one invocation for each of R * C / 4 vec4s, folded. Preludes: grid, rows, weight*.
// Reference: src/reference/embedding.ts

override WIDTH4: u32;
override PART_START: u32;
override PART_ROWS: u32;

@group(0) @binding(0) var<uniform> this_pass: Pass;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read> weight: array<WeightWord>;
@group(0) @binding(3) var<storage, read_write> output: array<vec4f>;

@compute @workgroup_size(64)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * 64u + local;
  let row = index / WIDTH4;
  if (row >= this_pass.rows) {
    return;
  }
  // Ids below the part wrap around to large numbers.
  let entry = ids[row] - PART_START;
  if (entry < PART_ROWS) {
    output[index] = weight_at(entry * WIDTH4 + index % WIDTH4);
  }
}

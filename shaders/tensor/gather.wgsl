// output[i, :] = weight[ids[i], :], the table
//
//   backward_input:  d_table[r, :] = sum of d_output[i, :] over the i with ids[i] = r, or += where it accumulates
// The table may be a weight in any format, and one of several parts that hold rows [part_start, part_start + part_rows).
// For the gradient the caller sorts the rows by id: those of table row r are order[starts[r]] to order[starts[r + 1] - 1].
// Nothing is scattered, so that sums have one order.
// Dispatch: one invocation for each vec4 of output (forward) or table (backward), folded. Preludes: grid, weight*.
// Reference: src/reference/embedding.ts

struct Shape {
  rows: u32,
  width4: u32,
  part_start: u32,
  part_rows: u32,
  accumulates: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read> weight: array<WeightWord>;
@group(0) @binding(3) var<storage, read_write> output: array<vec4f>;

@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read> order: array<u32>;
@group(0) @binding(3) var<storage, read> d_output: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> d_table: array<vec4f>;

@compute @workgroup_size(64)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * 64u + local;
  let row = index / shape.width4;
  if (row >= shape.rows) {
    return;
  }
  // Ids below the part wrap around to large numbers.
  let entry = ids[row] - shape.part_start;
  if (entry < shape.part_rows) {
    output[index] = weight_at(entry * shape.width4 + index % shape.width4);
  }
}

@compute @workgroup_size(64)
fn backward_input(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * 64u + local;
  let row = index / shape.width4;
  if (row >= shape.part_rows) {
    return;
  }
  let column = index % shape.width4;
  var sum = vec4f();
  for (var i = starts[shape.part_start + row]; i < starts[shape.part_start + row + 1u]; i++) {
    sum += d_output[order[i] * shape.width4 + column];
  }
  if (shape.accumulates != 0u) {
    sum += d_table[index];
  }
  d_table[index] = sum;
}

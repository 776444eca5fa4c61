// output[r] = logits[r, target[r]] - log of the sum over v of exp(logits[r, v])
//
// in blocks of the vocabulary, so that no [R, V] matrix ever stands: `forward` takes one block after the other and
// keeps (largest, sum, logit of the target) for each row; the last block writes the result.
//   backward_input:  turns a block of logits into their gradient,
//                    d_logits[r, v] = d_output[r] * ((v = target[r]) - exp(logits[r, v] - lse[r]))
// logits [R, block], padded to a multiple of 4; targets [R]; states [R]; output, d_output [R, 1], padded to 4.
// Dispatch: forward ceil(R / ROWS) workgroups, backward_input one invocation for each element, folded. Preludes: grid.
// Reference: src/reference/logProb.ts

/// Invocations that share a row, a power of two.
override LANES: u32 = 64;
override ROWS: u32 = 1;

struct Block {
  rows: u32,
  start: u32,
  columns: u32,
  pitch: u32,
  is_first: u32,
  is_last: u32,
}

@group(0) @binding(0) var<uniform> block: Block;
@group(0) @binding(1) var<storage, read> targets: array<u32>;
@group(0) @binding(2) var<storage, read> logits: array<f32>;
@group(0) @binding(3) var<storage, read_write> states: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> output: array<vec4f>;

@group(0) @binding(2) var<storage, read_write> d_logits: array<f32>;
@group(0) @binding(3) var<storage, read> states_read: array<vec4f>;
@group(0) @binding(4) var<storage, read> d_output: array<vec4f>;

const LOWEST = -3e38;

var<workgroup> shared_values: array<f32, LANES * ROWS>;

fn row_max(local: vec3u, value: f32) -> f32 {
  if (LANES == 1u) {
    return value;
  }
  let slot = local.y * LANES + local.x;
  workgroupBarrier();
  shared_values[slot] = value;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    if (local.x < half) {
      shared_values[slot] = max(shared_values[slot], shared_values[slot + half]);
    }
    workgroupBarrier();
  }
  return shared_values[local.y * LANES];
}

fn row_sum(local: vec3u, value: f32) -> f32 {
  if (LANES == 1u) {
    return value;
  }
  let slot = local.y * LANES + local.x;
  workgroupBarrier();
  shared_values[slot] = value;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    if (local.x < half) {
      shared_values[slot] += shared_values[slot + half];
    }
    workgroupBarrier();
  }
  return shared_values[local.y * LANES];
}

@compute @workgroup_size(LANES, ROWS)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let number = workgroup_number(workgroup, workgroups) * ROWS + local.y;
  // Rows past the end repeat the last one and write nothing, so that barriers stay uniform.
  let row = min(number, block.rows - 1u);
  let start = row * block.pitch;
  var before = vec4f(LOWEST, 0.0, 0.0, 0.0);
  if (block.is_first == 0u) {
    before = states[row];
  }
  var highest = LOWEST;
  for (var i = local.x; i < block.columns; i += LANES) {
    highest = max(highest, logits[start + i]);
  }
  highest = max(row_max(local, highest), before.x);
  var sum = 0.0;
  for (var i = local.x; i < block.columns; i += LANES) {
    sum += exp(logits[start + i] - highest);
  }
  sum = row_sum(local, sum) + before.y * exp(before.x - highest);
  var of_target = before.z;
  // Targets below the block wrap around to large numbers.
  let target_column = targets[row] - block.start;
  if (target_column < block.columns) {
    of_target = logits[start + target_column];
  }
  if (number < block.rows && local.x == 0u) {
    states[row] = vec4f(highest, sum, of_target, 0.0);
    if (block.is_last != 0u) {
      output[row] = vec4f(of_target - highest - log(sum), 0.0, 0.0, 0.0);
    }
  }
}

@compute @workgroup_size(64)
fn backward_input(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * 64u + local;
  let row = index / block.pitch;
  if (row >= block.rows) {
    return;
  }
  let column = index % block.pitch;
  var gradient = 0.0;
  if (column < block.columns) {
    let state = states_read[row];
    let probability = exp(min(d_logits[index] - state.x, 0.0)) / state.y;
    gradient = d_output[row].x * (select(0.0, 1.0, block.start + column == targets[row]) - probability);
  }
  d_logits[index] = gradient;
}

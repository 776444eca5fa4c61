// output[r, i] = exp(input[r, i] - max of row r) / sum over the kept j of exp(input[r, j] - max); 0 where not kept
//
//   backward_input:  d_input[r, i] = output_i * (d_output_i - sum over j of output_j * d_output_j),
// or += where it accumulates. Kept are the top_k largest entries of a row and whatever ties with the last of them;
// all when top_k is 0. input, output and gradients [R, C], rows padded to a multiple of 4 with zeros.
// Dispatch: ceil(R / ROWS) workgroups, folded. Preludes: grid.
// Reference: src/reference/softmax.ts

override LANES: u32 = 64;
override ROWS: u32 = 1;

struct Shape {
  rows: u32,
  width: u32,
  pitch: u32,
  top_k: u32,
  accumulates: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;

@group(0) @binding(1) var<storage, read> result: array<f32>;
@group(0) @binding(2) var<storage, read> d_output: array<f32>;
@group(0) @binding(3) var<storage, read_write> d_input: array<f32>;

const LOWEST = -3e38;

var<workgroup> of_lanes: array<f32, LANES * ROWS>;

/// The sum or the largest over the lanes of a row, for all of them.
fn reduce(local: vec3u, value: f32, takes_max: bool) -> f32 {
  if (LANES == 1u) {
    return value;
  }
  let slot = local.y * LANES + local.x;
  // What the last reduction left may still be read.
  workgroupBarrier();
  of_lanes[slot] = value;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    if (local.x < half) {
      let other = of_lanes[slot + half];
      of_lanes[slot] = select(of_lanes[slot] + other, max(of_lanes[slot], other), takes_max);
    }
    workgroupBarrier();
  }
  return of_lanes[local.y * LANES];
}

/// Whole numbers in the order of the f32s.
fn ordered(value: f32) -> u32 {
  let bits = bitcast<u32>(value);
  return select(bits | 0x80000000u, ~bits, (bits & 0x80000000u) != 0u);
}

@compute @workgroup_size(LANES, ROWS)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let row = workgroup_number(workgroup, workgroups) * ROWS + local.y;
  let start = min(row, shape.rows - 1u) * shape.pitch;

  // The largest threshold that top_k entries reach, bit by bit. Counts of up to 2^24 are exact in f32.
  var threshold = 0u;
  if (shape.top_k > 0u && shape.top_k < shape.width) {
    for (var bit = 0x80000000u; bit > 0u; bit >>= 1u) {
      var count = 0.0;
      for (var i = local.x; i < shape.width; i += LANES) {
        count += select(0.0, 1.0, ordered(input[start + i]) >= (threshold | bit));
      }
      if (reduce(local, count, false) >= f32(shape.top_k)) {
        threshold |= bit;
      }
    }
  }

  var largest = LOWEST;
  for (var i = local.x; i < shape.width; i += LANES) {
    largest = max(largest, input[start + i]);
  }
  largest = reduce(local, largest, true);
  var sum = 0.0;
  for (var i = local.x; i < shape.width; i += LANES) {
    let value = input[start + i];
    sum += select(0.0, exp(value - largest), ordered(value) >= threshold);
  }
  sum = reduce(local, sum, false);
  if (row < shape.rows) {
    for (var i = local.x; i < shape.pitch; i += LANES) {
      let value = input[start + i];
      let is_kept = i < shape.width && ordered(value) >= threshold;
      output[start + i] = select(0.0, exp(value - largest) / sum, is_kept);
    }
  }
}

@compute @workgroup_size(LANES, ROWS)
fn backward_input(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let row = workgroup_number(workgroup, workgroups) * ROWS + local.y;
  let start = min(row, shape.rows - 1u) * shape.pitch;
  var along = 0.0;
  for (var i = local.x; i < shape.width; i += LANES) {
    along += result[start + i] * d_output[start + i];
  }
  along = reduce(local, along, false);
  if (row < shape.rows) {
    for (var i = local.x; i < shape.pitch; i += LANES) {
      var gradient = result[start + i] * (d_output[start + i] - along);
      if (shape.accumulates != 0u) {
        gradient += d_input[start + i];
      }
      d_input[start + i] = gradient;
    }
  }
}

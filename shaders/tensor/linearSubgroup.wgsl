enable subgroups;

// backward_input and backward_weight of shaders/tensor/linear.wgsl (same formulas and bindings), for devices whose
// subgroups have a fixed, small size and where loads are what costs (see shaders/matmulSubgroup.wgsl): what all
// invocations of a subgroup need is loaded by one of them each and handed around.
//
// An invocation holds 16 rows by one vec4 (input), or 16 weight rows by one vec4 (weight), of sums in registers.
// Dispatch: backward_input [ceil(K4 / LANES), ceil(R / 16)], backward_weight [ceil(K4 / LANES), ceil(N / 16)] workgroups.
// Preludes: weight*.
// Reference: src/reference/linear.ts

/// Invocations in a workgroup, a multiple of SUBGROUP.
override LANES: u32 = 32;
/// Invocations in a subgroup: 4 or 8.
override SUBGROUP: u32;

struct Shape {
  rows: u32,
  /// Width of input and weight, in vec4s.
  in4: u32,
  /// Width of the output, and the same in vec4s.
  out: u32,
  out4: u32,
  accumulates: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> d_output: array<vec4f>;
@group(0) @binding(2) var<storage, read> weight: array<WeightWord>;
@group(0) @binding(2) var<storage, read> input: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> d_input: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> d_weight: array<vec4f>;

/// What row `row` of the tile needs, `row` the same for all, from what each invocation has loaded.
fn row_value(loaded: ptr<function, array<vec4f, 4>>, row: u32) -> vec4f {
  return subgroupShuffle((*loaded)[row / SUBGROUP], row % SUBGROUP);
}

@compute @workgroup_size(LANES)
fn backward_input(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) local: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  // Invocations past the last column go on, as their subgroup needs the rows they load.
  let column = workgroup.x * LANES + local;
  let own_column = min(column, shape.in4 - 1u);
  let row = workgroup.y * 16u;
  let last = shape.rows - 1u;
  let row0 = min(row + lane, last) * shape.out4;
  let row1 = min(row + SUBGROUP + lane, last) * shape.out4;
  let row2 = min(row + 2u * SUBGROUP + lane, last) * shape.out4;
  let row3 = min(row + 3u * SUBGROUP + lane, last) * shape.out4;
  var s0 = vec4f();
  var s1 = vec4f();
  var s2 = vec4f();
  var s3 = vec4f();
  var s4 = vec4f();
  var s5 = vec4f();
  var s6 = vec4f();
  var s7 = vec4f();
  var s8 = vec4f();
  var s9 = vec4f();
  var s10 = vec4f();
  var s11 = vec4f();
  var s12 = vec4f();
  var s13 = vec4f();
  var s14 = vec4f();
  var s15 = vec4f();
  var d: array<vec4f, 4>;
  for (var n4 = 0u; n4 < shape.out4; n4++) {
    d[0] = d_output[row0 + n4];
    d[1] = d_output[row1 + n4];
    if (SUBGROUP < 8u) {
      d[2] = d_output[row2 + n4];
      d[3] = d_output[row3 + n4];
    }
    // The padding of d_output is zero, so that weight rows past the end, which repeat the last one, add nothing.
    let n = n4 * 4u;
    let w = mat4x4f(
      weight_at(n * shape.in4 + own_column),
      weight_at(min(n + 1u, shape.out - 1u) * shape.in4 + own_column),
      weight_at(min(n + 2u, shape.out - 1u) * shape.in4 + own_column),
      weight_at(min(n + 3u, shape.out - 1u) * shape.in4 + own_column),
    );
    s0 += w * row_value(&d, 0u);
    s1 += w * row_value(&d, 1u);
    s2 += w * row_value(&d, 2u);
    s3 += w * row_value(&d, 3u);
    s4 += w * row_value(&d, 4u);
    s5 += w * row_value(&d, 5u);
    s6 += w * row_value(&d, 6u);
    s7 += w * row_value(&d, 7u);
    s8 += w * row_value(&d, 8u);
    s9 += w * row_value(&d, 9u);
    s10 += w * row_value(&d, 10u);
    s11 += w * row_value(&d, 11u);
    s12 += w * row_value(&d, 12u);
    s13 += w * row_value(&d, 13u);
    s14 += w * row_value(&d, 14u);
    s15 += w * row_value(&d, 15u);
  }
  if (column >= shape.in4) {
    return;
  }
  // A loop, and its length known only at run time: unrolled stores take a software device seconds to compile.
  var sums = array<vec4f, 16>(s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15);
  for (var r = 0u; r < min(16u, shape.rows - row); r++) {
    let at = (row + r) * shape.in4 + column;
    var sum = sums[r];
    if (shape.accumulates != 0u) {
      sum += d_input[at];
    }
    d_input[at] = sum;
  }
}

@compute @workgroup_size(LANES)
fn backward_weight(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) local: u32,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let column = workgroup.x * LANES + local;
  let own_column = min(column, shape.in4 - 1u);
  let n4 = workgroup.y * 4u;
  let last4 = shape.out4 - 1u;
  var s0 = vec4f();
  var s1 = vec4f();
  var s2 = vec4f();
  var s3 = vec4f();
  var s4 = vec4f();
  var s5 = vec4f();
  var s6 = vec4f();
  var s7 = vec4f();
  var s8 = vec4f();
  var s9 = vec4f();
  var s10 = vec4f();
  var s11 = vec4f();
  var s12 = vec4f();
  var s13 = vec4f();
  var s14 = vec4f();
  var s15 = vec4f();
  var d: array<vec4f, 4>;
  for (var start = 0u; start < shape.rows; start += SUBGROUP) {
    let at = min(start + lane, shape.rows - 1u) * shape.out4;
    d[0] = d_output[at + n4];
    d[1] = d_output[at + min(n4 + 1u, last4)];
    d[2] = d_output[at + min(n4 + 2u, last4)];
    d[3] = d_output[at + min(n4 + 3u, last4)];
    for (var r = 0u; r < min(SUBGROUP, shape.rows - start); r++) {
      let x = input[(start + r) * shape.in4 + own_column];
      let d0 = subgroupShuffle(d[0], r);
      let d1 = subgroupShuffle(d[1], r);
      let d2 = subgroupShuffle(d[2], r);
      let d3 = subgroupShuffle(d[3], r);
      s0 += d0.x * x;
      s1 += d0.y * x;
      s2 += d0.z * x;
      s3 += d0.w * x;
      s4 += d1.x * x;
      s5 += d1.y * x;
      s6 += d1.z * x;
      s7 += d1.w * x;
      s8 += d2.x * x;
      s9 += d2.y * x;
      s10 += d2.z * x;
      s11 += d2.w * x;
      s12 += d3.x * x;
      s13 += d3.y * x;
      s14 += d3.z * x;
      s15 += d3.w * x;
    }
  }
  if (column >= shape.in4) {
    return;
  }
  var sums = array<vec4f, 16>(s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15);
  for (var j = 0u; j < min(16u, shape.out - n4 * 4u); j++) {
    let at = (n4 * 4u + j) * shape.in4 + column;
    var sum = sums[j];
    if (shape.accumulates != 0u) {
      sum += d_weight[at];
    }
    d_weight[at] = sum;
  }
}

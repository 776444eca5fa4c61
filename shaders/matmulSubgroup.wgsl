enable subgroups;

// The product of shaders/matmul.wgsl (same formula, bindings and options), for devices whose subgroups have a fixed,
// small size. Software devices run a subgroup as one vector of the CPU and load memory element by element, so that
// loads are what costs: here the invocations of a subgroup load different input rows and hand them around.
//
// A subgroup computes a tile of ROWS rows (1, 4, 8 or 16) by 4 weight rows for each of its invocations.
// Every row is summed in the same order whatever ROWS is.
// Dispatch: [ceil(OUT / (LANES * (4, or 2 with SWIGLU))), ceil(R / ROWS)] workgroups. Preludes: rows,
// weight*, matmulOutput.
// Reference: src/reference/linear.ts, src/reference/swiglu.ts

override ROWS: u32 = 16;
/// Invocations in a workgroup, a multiple of SUBGROUP.
override LANES: u32 = 32;
/// Invocations in a subgroup: 4, 8, 16 or more.
override SUBGROUP: u32;

@group(0) @binding(1) var<storage, read> input: array<vec4f>;
@group(0) @binding(2) var<storage, read> weight: array<WeightWord>;

/// The k-th vec4 of input row `row`, which must not depend on the invocation, given what each invocation loaded.
fn row_value(loaded: ptr<function, array<vec4f, 4>>, row: u32) -> vec4f {
  return subgroupShuffle((*loaded)[row / SUBGROUP], row % SUBGROUP);
}

fn products(x: vec4f, w: ptr<function, array<vec4f, 4>>) -> vec4f {
  return vec4f(dot(x, (*w)[0]), dot(x, (*w)[1]), dot(x, (*w)[2]), dot(x, (*w)[3]));
}

@compute @workgroup_size(LANES)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let row = workgroup.y * ROWS;
  let column = (workgroup.x * LANES + local.x) * select(4u, 2u, is_kind(SWIGLU));

  // Invocations past the last column go on, as their subgroup needs the rows they load.
  let c0 = min(column, product.out - 1u);
  let c1 = min(column + 1u, product.out - 1u);
  let w0 = c0 * product.in4;
  let w1 = c1 * product.in4;
  let w2 = select(min(column + 2u, product.out - 1u), product.out + c0, is_kind(SWIGLU)) * product.in4;
  let w3 = select(min(column + 3u, product.out - 1u), product.out + c1, is_kind(SWIGLU)) * product.in4;
  let last_row = this_pass.rows - 1u;
  let x0 = min(row + lane, last_row) * product.in4;
  let x1 = min(row + SUBGROUP + lane, last_row) * product.in4;
  let x2 = min(row + 2u * SUBGROUP + lane, last_row) * product.in4;
  let x3 = min(row + 3u * SUBGROUP + lane, last_row) * product.in4;

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
  for (var k = 0u; k < product.in4; k++) {
    var x: array<vec4f, 4>;
    x[0] = input[x0 + k];
    if (ROWS > SUBGROUP) {
      x[1] = input[x1 + k];
    }
    if (ROWS > 2u * SUBGROUP) {
      x[2] = input[x2 + k];
      x[3] = input[x3 + k];
    }
    var w = array<vec4f, 4>(
      weight_at(w0 + k),
      weight_at(w1 + k),
      weight_at(w2 + k),
      weight_at(w3 + k),
    );
    s0 += products(row_value(&x, 0u), &w);
    if (ROWS > 1u) {
      s1 += products(row_value(&x, 1u), &w);
      s2 += products(row_value(&x, 2u), &w);
      s3 += products(row_value(&x, 3u), &w);
    }
    if (ROWS > 4u) {
      s4 += products(row_value(&x, 4u), &w);
      s5 += products(row_value(&x, 5u), &w);
      s6 += products(row_value(&x, 6u), &w);
      s7 += products(row_value(&x, 7u), &w);
    }
    if (ROWS > 8u) {
      s8 += products(row_value(&x, 8u), &w);
      s9 += products(row_value(&x, 9u), &w);
      s10 += products(row_value(&x, 10u), &w);
      s11 += products(row_value(&x, 11u), &w);
      s12 += products(row_value(&x, 12u), &w);
      s13 += products(row_value(&x, 13u), &w);
      s14 += products(row_value(&x, 14u), &w);
      s15 += products(row_value(&x, 15u), &w);
    }
  }

  // A loop, and its length known only at run time: unrolled stores take a software device seconds to compile.
  var sums = array<vec4f, 16>(s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15);
  for (var r = 0u; r < min(ROWS, this_pass.rows - row); r++) {
    store(row + r, column, sums[r]);
  }
}

// output[r, n] = sum over k of input[r, k] * weight[n, k] (+ bias[n]) (+ what output[r, n] held before)
// or, with SWIGLU, output[r, n] = silu(g) * u with g and u the products of weight rows n and OUT + n.
//
// input [R, K], weight [N, K] as in the checkpoint (N is OUT, or 2 * OUT with SWIGLU), bias [N], output [R, OUT];
// widths of rows are padded to multiples of 4 with zeros.
// An invocation computes a tile of 4 rows by 4 weight rows in registers (1 row when ROWS is 1): one vec4 of each feeds
// 16 products. With SWIGLU the 4 weight rows are 2 of the gate and the 2 of up that belong to them. K_LANES invocations
// share a tile, each over every K_LANES-th vec4 of k, so that neighbours read neighbouring memory.
// Dispatch: [ceil(OUT / (COL_LANES * (4, or 2 with SWIGLU))), ceil(R / ROWS)] workgroups. Preludes: rows,
// weight*, matmulOutput.
// Reference: src/reference/linear.ts, src/reference/swiglu.ts

override ROWS: u32 = 4;
override COL_LANES: u32 = 8;
override K_LANES: u32 = 8;

@group(0) @binding(1) var<storage, read> input: array<vec4f>;
@group(0) @binding(2) var<storage, read> weight: array<WeightWord>;

var<workgroup> partial_sums: array<array<vec4f, 4>, COL_LANES * K_LANES>;

@compute @workgroup_size(K_LANES, COL_LANES)
fn forward(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let k_lane = local.x;
  let tile = workgroup.x * COL_LANES + local.y;
  let row = workgroup.y * ROWS;
  let column = tile * select(4u, 2u, is_kind(SWIGLU));

  // Rows past the end repeat the last one; their sums are not stored.
  let last_row = this_pass.rows - 1u;
  let x0 = min(row, last_row) * product.in4;
  let x1 = min(row + 1u, last_row) * product.in4;
  let x2 = min(row + 2u, last_row) * product.in4;
  let x3 = min(row + 3u, last_row) * product.in4;
  let c0 = min(column, product.out - 1u);
  let c1 = min(column + 1u, product.out - 1u);
  let w0 = c0 * product.in4;
  let w1 = c1 * product.in4;
  let w2 = select(min(column + 2u, product.out - 1u), product.out + c0, is_kind(SWIGLU)) * product.in4;
  let w3 = select(min(column + 3u, product.out - 1u), product.out + c1, is_kind(SWIGLU)) * product.in4;

  var sums0 = vec4f();
  var sums1 = vec4f();
  var sums2 = vec4f();
  var sums3 = vec4f();
  for (var k = k_lane; k < product.in4; k += K_LANES) {
    let a = weight_at(w0 + k);
    let b = weight_at(w1 + k);
    let c = weight_at(w2 + k);
    let d = weight_at(w3 + k);
    var x = input[x0 + k];
    sums0 += vec4f(dot(x, a), dot(x, b), dot(x, c), dot(x, d));
    if (ROWS > 1u) {
      x = input[x1 + k];
      sums1 += vec4f(dot(x, a), dot(x, b), dot(x, c), dot(x, d));
      x = input[x2 + k];
      sums2 += vec4f(dot(x, a), dot(x, b), dot(x, c), dot(x, d));
      x = input[x3 + k];
      sums3 += vec4f(dot(x, a), dot(x, b), dot(x, c), dot(x, d));
    }
  }

  if (K_LANES > 1u) {
    let slot = local.y * K_LANES + k_lane;
    partial_sums[slot] = array<vec4f, 4>(sums0, sums1, sums2, sums3);
    workgroupBarrier();
    for (var half = K_LANES / 2u; half > 0u; half /= 2u) {
      if (k_lane < half) {
        for (var r = 0u; r < ROWS; r++) {
          partial_sums[slot][r] += partial_sums[slot + half][r];
        }
      }
      workgroupBarrier();
    }
    // The first ROWS lanes of a tile store one row each.
    for (var r = k_lane; r < ROWS; r += K_LANES) {
      store(row + r, column, partial_sums[local.y * K_LANES][r]);
    }
    return;
  }
  store(row, column, sums0);
  if (ROWS > 1u) {
    store(row + 1u, column, sums1);
    store(row + 2u, column, sums2);
    store(row + 3u, column, sums3);
  }
}

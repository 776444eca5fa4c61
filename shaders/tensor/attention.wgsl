// output[r, h, :] = sum over keys j that row r sees of p[j] * value[j, h / G, :],
//   p = softmax over j of scale * query[r, h, :] . key[j, h / G, :],   G = HEADS / KV_HEADS
//
// and its gradients, which recompute p from the logarithm of each row's softmax sum (lse) instead of storing it:
//   prepare:         statistics = (lse, delta) with delta = d_output . output
//   backward_query:  d_score = scale * p * (d_output . value - delta);  d_query = sum over j of d_score key
//   backward_key:    d_value = sum of p d_output;  d_key = sum of d_score query, over the rows and the G query heads that
//                    see the key: no two workgroups write to one place
// or += where it accumulates. Source: Dao et al. 2022 (FlashAttention), algorithms 1 and 4.
//
// query, output [R, HEADS, D], key, value [K, KV_HEADS, D], one head a row, each padded to head_vec4 vec4s with zeros;
// lse [R, HEADS], statistics [R, HEADS]. Row r sees keys query_keys[r].x to query_keys[r].y - 1, key j is seen by rows
// key_queries[j].x to key_queries[j].y - 1; neither decreases from one row to the next.
//
// A workgroup takes TILE rows (backward_key: keys) of one head and runs over what they see in blocks of TILE. First its
// invocations compute the block's scores, 4 by 4 each, into workgroup memory; then they stand for 4 rows by one vec4 of
// the result each, which they keep in the result itself: no array in registers, which some compilers unroll for minutes.
// Dispatch: forward and backward_query HEADS * ceil(R / TILE), backward_key KV_HEADS * ceil(K / TILE) workgroups, prepare
// ceil(R * HEADS / LANES), folded. Preludes: grid.
// Reference: src/reference/attention.ts

const TILE = 32u;
const LANES = 64u;
/// Vec4s across a tile.
const TILE4 = 8u;

struct Shape {
  query_rows: u32,
  key_rows: u32,
  heads: u32,
  kv_heads: u32,
  head_vec4: u32,
  scale: f32,
  accumulates_query: u32,
  accumulates_key: u32,
  accumulates_value: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> query: array<vec4f>;
@group(0) @binding(2) var<storage, read> key: array<vec4f>;
@group(0) @binding(3) var<storage, read> value: array<vec4f>;
@group(0) @binding(4) var<storage, read> query_keys: array<vec2u>;

@group(0) @binding(5) var<storage, read_write> output: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> lse: array<f32>;

@group(0) @binding(5) var<storage, read> statistics: array<vec2f>;
@group(0) @binding(6) var<storage, read> d_output: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> d_query: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> d_key: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> d_value: array<vec4f>;

const LOWEST = -3e38;

/// The weights of a block: [block row][tile row / 4], 4 tile rows in a vec4.
var<workgroup> weights: array<vec4f, TILE * TILE4>;
/// The same of the scores' gradients.
var<workgroup> d_scores: array<vec4f, TILE * TILE4>;
/// What earlier sums of a row are multiplied with after a larger score has come.
var<workgroup> corrections: array<vec4f, TILE4>;

/// Places of the heads of rows first to first + 3, held inside the tensor.
fn places(first: u32, rows: u32, heads: u32, head: u32) -> vec4u {
  return (min(vec4u(first) + vec4u(0u, 1u, 2u, 3u), vec4u(rows - 1u)) * heads + head) * shape.head_vec4;
}

@compute @workgroup_size(LANES)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let number = workgroup_number(workgroup, workgroups);
  let tiles = (shape.query_rows + TILE - 1u) / TILE;
  let head = number / tiles;
  if (head >= shape.heads) {
    return;
  }
  let tile = number % tiles * TILE;
  let kv_head = head / (shape.heads / shape.kv_heads);
  let last = shape.query_rows - 1u;
  let first_key = query_keys[tile].x;
  let end_key = query_keys[min(tile + TILE - 1u, last)].y;

  // While scores are computed: 4 rows and 4 keys of the block.
  let own_rows = lane / TILE4;
  let own_keys = lane % TILE4;
  let q = places(tile + own_rows * 4u, shape.query_rows, shape.heads, head);
  // While a softmax is computed, the first TILE4 lanes stand for 4 rows each.
  let softmax_rows = min(vec4u(tile + lane * 4u) + vec4u(0u, 1u, 2u, 3u), vec4u(last));
  let sees0 = query_keys[softmax_rows.x];
  let sees1 = query_keys[softmax_rows.y];
  let sees2 = query_keys[softmax_rows.z];
  let sees3 = query_keys[softmax_rows.w];
  let sees_first = vec4u(sees0.x, sees1.x, sees2.x, sees3.x);
  let sees_end = vec4u(sees0.y, sees1.y, sees2.y, sees3.y);
  var highest = vec4f(LOWEST);
  var total = vec4f();

  for (var block = first_key; block < end_key; block += TILE) {
    let k = places(block + own_keys * 4u, shape.key_rows, shape.kv_heads, kv_head);
    var s0 = vec4f();
    var s1 = vec4f();
    var s2 = vec4f();
    var s3 = vec4f();
    for (var d = 0u; d < shape.head_vec4; d++) {
      let q0 = query[q.x + d];
      let q1 = query[q.y + d];
      let q2 = query[q.z + d];
      let q3 = query[q.w + d];
      var x = key[k.x + d];
      s0 += vec4f(dot(q0, x), dot(q1, x), dot(q2, x), dot(q3, x));
      x = key[k.y + d];
      s1 += vec4f(dot(q0, x), dot(q1, x), dot(q2, x), dot(q3, x));
      x = key[k.z + d];
      s2 += vec4f(dot(q0, x), dot(q1, x), dot(q2, x), dot(q3, x));
      x = key[k.w + d];
      s3 += vec4f(dot(q0, x), dot(q1, x), dot(q2, x), dot(q3, x));
    }
    let at = own_keys * 4u * TILE4 + own_rows;
    weights[at] = s0 * shape.scale;
    weights[at + TILE4] = s1 * shape.scale;
    weights[at + 2u * TILE4] = s2 * shape.scale;
    weights[at + 3u * TILE4] = s3 * shape.scale;
    workgroupBarrier();

    if (lane < TILE4) {
      // Keys of the block that each of the 4 rows sees.
      let firsts = max(sees_first, vec4u(block)) - block;
      let ends = max(sees_end, vec4u(block)) - block;
      var new_highest = highest;
      for (var j = 0u; j < TILE; j++) {
        let is_seen = (vec4u(j) >= firsts) & (vec4u(j) < ends);
        new_highest = max(new_highest, select(vec4f(LOWEST), weights[j * TILE4 + lane], is_seen));
      }
      let correction = exp(highest - new_highest);
      total *= correction;
      highest = new_highest;
      for (var j = 0u; j < TILE; j++) {
        let is_seen = (vec4u(j) >= firsts) & (vec4u(j) < ends);
        let score = weights[j * TILE4 + lane];
        let weight = select(vec4f(), exp(min(score - new_highest, vec4f())), is_seen);
        weights[j * TILE4 + lane] = weight;
        total += weight;
      }
      corrections[lane] = correction;
    }
    workgroupBarrier();

    let count = min(TILE, shape.key_rows - block);
    for (var item = lane; item < TILE4 * shape.head_vec4; item += LANES) {
      let group = item / shape.head_vec4;
      let d = item % shape.head_vec4;
      var sums0 = vec4f();
      var sums1 = vec4f();
      var sums2 = vec4f();
      var sums3 = vec4f();
      for (var j = 0u; j < count; j++) {
        let weight = weights[j * TILE4 + group];
        let v = value[((block + j) * shape.kv_heads + kv_head) * shape.head_vec4 + d];
        sums0 += weight.x * v;
        sums1 += weight.y * v;
        sums2 += weight.z * v;
        sums3 += weight.w * v;
      }
      let out = places(tile + group * 4u, shape.query_rows, shape.heads, head) + d;
      let correction = corrections[group];
      let rows_left = shape.query_rows - min(tile + group * 4u, shape.query_rows);
      let is_first = block == first_key;
      if (rows_left > 0u) {
        output[out.x] = select(output[out.x] * correction.x, vec4f(), is_first) + sums0;
      }
      if (rows_left > 1u) {
        output[out.y] = select(output[out.y] * correction.y, vec4f(), is_first) + sums1;
      }
      if (rows_left > 2u) {
        output[out.z] = select(output[out.z] * correction.z, vec4f(), is_first) + sums2;
      }
      if (rows_left > 3u) {
        output[out.w] = select(output[out.w] * correction.w, vec4f(), is_first) + sums3;
      }
    }
    workgroupBarrier();
  }

  if (lane < TILE4) {
    corrections[lane] = 1.0 / total;
    let sums = highest + log(total);
    for (var r = 0u; r < 4u; r++) {
      let row = tile + lane * 4u + r;
      if (row < shape.query_rows) {
        lse[row * shape.heads + head] = sums[r];
      }
    }
  }
  workgroupBarrier();
  // The same invocations as before finish what they have summed.
  for (var item = lane; item < TILE4 * shape.head_vec4; item += LANES) {
    let group = item / shape.head_vec4;
    let d = item % shape.head_vec4;
    for (var r = 0u; r < 4u; r++) {
      let row = tile + group * 4u + r;
      if (row < shape.query_rows) {
        let out = (row * shape.heads + head) * shape.head_vec4 + d;
        output[out] *= corrections[group][r];
      }
    }
  }
}

@group(0) @binding(1) var<storage, read> lse_read: array<f32>;
@group(0) @binding(2) var<storage, read> output_read: array<vec4f>;
@group(0) @binding(3) var<storage, read> d_output_read: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> statistics_written: array<vec2f>;

@compute @workgroup_size(LANES)
fn prepare(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * LANES + lane;
  if (index >= shape.query_rows * shape.heads) {
    return;
  }
  var delta = 0.0;
  for (var d = 0u; d < shape.head_vec4; d++) {
    delta += dot(output_read[index * shape.head_vec4 + d], d_output_read[index * shape.head_vec4 + d]);
  }
  statistics_written[index] = vec2f(lse_read[index], delta);
}

/// Weights and gradients of scores of 4 rows for one key, from the scores, the gradients of the weights, and statistics.
fn gradients_of_scores(score: vec4f, d_weight: vec4f, sums: vec4f, deltas: vec4f, is_seen: vec4<bool>) -> array<vec4f, 2> {
  // What is not seen may have any score: no exponent above 0.
  let weight = select(vec4f(), exp(min(score * shape.scale - sums, vec4f())), is_seen);
  return array<vec4f, 2>(weight, weight * (d_weight - deltas) * shape.scale);
}

@compute @workgroup_size(LANES)
fn backward_query(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let number = workgroup_number(workgroup, workgroups);
  let tiles = (shape.query_rows + TILE - 1u) / TILE;
  let head = number / tiles;
  if (head >= shape.heads) {
    return;
  }
  let tile = number % tiles * TILE;
  let kv_head = head / (shape.heads / shape.kv_heads);
  let last = shape.query_rows - 1u;
  let first_key = query_keys[tile].x;
  let end_key = query_keys[min(tile + TILE - 1u, last)].y;

  let own_rows = lane / TILE4;
  let own_keys = lane % TILE4;
  let rows = min(vec4u(tile + own_rows * 4u) + vec4u(0u, 1u, 2u, 3u), vec4u(last));
  let q = (rows * shape.heads + head) * shape.head_vec4;
  let known0 = statistics[rows.x * shape.heads + head];
  let known1 = statistics[rows.y * shape.heads + head];
  let known2 = statistics[rows.z * shape.heads + head];
  let known3 = statistics[rows.w * shape.heads + head];
  let sums = vec4f(known0.x, known1.x, known2.x, known3.x);
  let deltas = vec4f(known0.y, known1.y, known2.y, known3.y);
  let sees0 = query_keys[rows.x];
  let sees1 = query_keys[rows.y];
  let sees2 = query_keys[rows.z];
  let sees3 = query_keys[rows.w];
  let firsts = vec4u(sees0.x, sees1.x, sees2.x, sees3.x);
  let ends = vec4u(sees0.y, sees1.y, sees2.y, sees3.y);

  for (var block = first_key; block < end_key; block += TILE) {
    let k = places(block + own_keys * 4u, shape.key_rows, shape.kv_heads, kv_head);
    var s0 = vec4f();
    var s1 = vec4f();
    var s2 = vec4f();
    var s3 = vec4f();
    for (var d = 0u; d < shape.head_vec4; d++) {
      let q0 = query[q.x + d];
      let q1 = query[q.y + d];
      let q2 = query[q.z + d];
      let q3 = query[q.w + d];
      var x = key[k.x + d];
      s0 += vec4f(dot(q0, x), dot(q1, x), dot(q2, x), dot(q3, x));
      x = key[k.y + d];
      s1 += vec4f(dot(q0, x), dot(q1, x), dot(q2, x), dot(q3, x));
      x = key[k.z + d];
      s2 += vec4f(dot(q0, x), dot(q1, x), dot(q2, x), dot(q3, x));
      x = key[k.w + d];
      s3 += vec4f(dot(q0, x), dot(q1, x), dot(q2, x), dot(q3, x));
    }
    var w0 = vec4f();
    var w1 = vec4f();
    var w2 = vec4f();
    var w3 = vec4f();
    for (var d = 0u; d < shape.head_vec4; d++) {
      let q0 = d_output[q.x + d];
      let q1 = d_output[q.y + d];
      let q2 = d_output[q.z + d];
      let q3 = d_output[q.w + d];
      var x = value[k.x + d];
      w0 += vec4f(dot(q0, x), dot(q1, x), dot(q2, x), dot(q3, x));
      x = value[k.y + d];
      w1 += vec4f(dot(q0, x), dot(q1, x), dot(q2, x), dot(q3, x));
      x = value[k.z + d];
      w2 += vec4f(dot(q0, x), dot(q1, x), dot(q2, x), dot(q3, x));
      x = value[k.w + d];
      w3 += vec4f(dot(q0, x), dot(q1, x), dot(q2, x), dot(q3, x));
    }
    let at = own_keys * 4u * TILE4 + own_rows;
    let j = vec4u(block + own_keys * 4u);
    d_scores[at] = gradients_of_scores(s0, w0, sums, deltas, (j >= firsts) & (j < ends))[1];
    d_scores[at + TILE4] = gradients_of_scores(s1, w1, sums, deltas, (j + 1u >= firsts) & (j + 1u < ends))[1];
    d_scores[at + 2u * TILE4] = gradients_of_scores(s2, w2, sums, deltas, (j + 2u >= firsts) & (j + 2u < ends))[1];
    d_scores[at + 3u * TILE4] = gradients_of_scores(s3, w3, sums, deltas, (j + 3u >= firsts) & (j + 3u < ends))[1];
    workgroupBarrier();

    let count = min(TILE, shape.key_rows - block);
    let adds = block != first_key || shape.accumulates_query != 0u;
    for (var item = lane; item < TILE4 * shape.head_vec4; item += LANES) {
      let group = item / shape.head_vec4;
      let d = item % shape.head_vec4;
      var sums0 = vec4f();
      var sums1 = vec4f();
      var sums2 = vec4f();
      var sums3 = vec4f();
      for (var i = 0u; i < count; i++) {
        let d_score = d_scores[i * TILE4 + group];
        let x = key[((block + i) * shape.kv_heads + kv_head) * shape.head_vec4 + d];
        sums0 += d_score.x * x;
        sums1 += d_score.y * x;
        sums2 += d_score.z * x;
        sums3 += d_score.w * x;
      }
      let out = places(tile + group * 4u, shape.query_rows, shape.heads, head) + d;
      let rows_left = shape.query_rows - min(tile + group * 4u, shape.query_rows);
      if (rows_left > 0u) {
        d_query[out.x] = select(vec4f(), d_query[out.x], adds) + sums0;
      }
      if (rows_left > 1u) {
        d_query[out.y] = select(vec4f(), d_query[out.y], adds) + sums1;
      }
      if (rows_left > 2u) {
        d_query[out.z] = select(vec4f(), d_query[out.z], adds) + sums2;
      }
      if (rows_left > 3u) {
        d_query[out.w] = select(vec4f(), d_query[out.w], adds) + sums3;
      }
    }
    workgroupBarrier();
  }
}

@group(0) @binding(4) var<storage, read> key_queries: array<vec2u>;

@compute @workgroup_size(LANES)
fn backward_key(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let number = workgroup_number(workgroup, workgroups);
  let tiles = (shape.key_rows + TILE - 1u) / TILE;
  let kv_head = number / tiles;
  if (kv_head >= shape.kv_heads) {
    return;
  }
  let tile = number % tiles * TILE;
  let group_heads = shape.heads / shape.kv_heads;
  let last = shape.key_rows - 1u;
  let first_row = key_queries[tile].x;
  let end_row = key_queries[min(tile + TILE - 1u, last)].y;

  // Here the tile's rows are keys and the block's are queries.
  let own_keys = lane / TILE4;
  let own_rows = lane % TILE4;
  let keys = min(vec4u(tile + own_keys * 4u) + vec4u(0u, 1u, 2u, 3u), vec4u(last));
  let k = (keys * shape.kv_heads + kv_head) * shape.head_vec4;
  let seen0 = key_queries[keys.x];
  let seen1 = key_queries[keys.y];
  let seen2 = key_queries[keys.z];
  let seen3 = key_queries[keys.w];
  let firsts = vec4u(seen0.x, seen1.x, seen2.x, seen3.x);
  let ends = vec4u(seen0.y, seen1.y, seen2.y, seen3.y);

  for (var member = 0u; member < group_heads; member++) {
    let head = kv_head * group_heads + member;
    for (var block = first_row; block < end_row; block += TILE) {
      let rows = min(vec4u(block + own_rows * 4u) + vec4u(0u, 1u, 2u, 3u), vec4u(shape.query_rows - 1u));
      let q = (rows * shape.heads + head) * shape.head_vec4;
      var s0 = vec4f();
      var s1 = vec4f();
      var s2 = vec4f();
      var s3 = vec4f();
      for (var d = 0u; d < shape.head_vec4; d++) {
        let k0 = key[k.x + d];
        let k1 = key[k.y + d];
        let k2 = key[k.z + d];
        let k3 = key[k.w + d];
        var x = query[q.x + d];
        s0 += vec4f(dot(k0, x), dot(k1, x), dot(k2, x), dot(k3, x));
        x = query[q.y + d];
        s1 += vec4f(dot(k0, x), dot(k1, x), dot(k2, x), dot(k3, x));
        x = query[q.z + d];
        s2 += vec4f(dot(k0, x), dot(k1, x), dot(k2, x), dot(k3, x));
        x = query[q.w + d];
        s3 += vec4f(dot(k0, x), dot(k1, x), dot(k2, x), dot(k3, x));
      }
      var w0 = vec4f();
      var w1 = vec4f();
      var w2 = vec4f();
      var w3 = vec4f();
      for (var d = 0u; d < shape.head_vec4; d++) {
        let v0 = value[k.x + d];
        let v1 = value[k.y + d];
        let v2 = value[k.z + d];
        let v3 = value[k.w + d];
        var x = d_output[q.x + d];
        w0 += vec4f(dot(v0, x), dot(v1, x), dot(v2, x), dot(v3, x));
        x = d_output[q.y + d];
        w1 += vec4f(dot(v0, x), dot(v1, x), dot(v2, x), dot(v3, x));
        x = d_output[q.z + d];
        w2 += vec4f(dot(v0, x), dot(v1, x), dot(v2, x), dot(v3, x));
        x = d_output[q.w + d];
        w3 += vec4f(dot(v0, x), dot(v1, x), dot(v2, x), dot(v3, x));
      }
      let at = own_rows * 4u * TILE4 + own_keys;
      let i = vec4u(block + own_rows * 4u);
      let known0 = statistics[rows.x * shape.heads + head];
      let known1 = statistics[rows.y * shape.heads + head];
      let known2 = statistics[rows.z * shape.heads + head];
      let known3 = statistics[rows.w * shape.heads + head];
      var both = gradients_of_scores(s0, w0, vec4f(known0.x), vec4f(known0.y), (i >= firsts) & (i < ends));
      weights[at] = both[0];
      d_scores[at] = both[1];
      both = gradients_of_scores(s1, w1, vec4f(known1.x), vec4f(known1.y), (i + 1u >= firsts) & (i + 1u < ends));
      weights[at + TILE4] = both[0];
      d_scores[at + TILE4] = both[1];
      both = gradients_of_scores(s2, w2, vec4f(known2.x), vec4f(known2.y), (i + 2u >= firsts) & (i + 2u < ends));
      weights[at + 2u * TILE4] = both[0];
      d_scores[at + 2u * TILE4] = both[1];
      both = gradients_of_scores(s3, w3, vec4f(known3.x), vec4f(known3.y), (i + 3u >= firsts) & (i + 3u < ends));
      weights[at + 3u * TILE4] = both[0];
      d_scores[at + 3u * TILE4] = both[1];
      workgroupBarrier();

      let count = min(TILE, shape.query_rows - block);
      let is_later = member > 0u || block != first_row;
      let adds_key = is_later || shape.accumulates_key != 0u;
      let adds_value = is_later || shape.accumulates_value != 0u;
      for (var item = lane; item < TILE4 * shape.head_vec4; item += LANES) {
        let group = item / shape.head_vec4;
        let d = item % shape.head_vec4;
        var keys0 = vec4f();
        var keys1 = vec4f();
        var keys2 = vec4f();
        var keys3 = vec4f();
        var values0 = vec4f();
        var values1 = vec4f();
        var values2 = vec4f();
        var values3 = vec4f();
        for (var r = 0u; r < count; r++) {
          let place = ((block + r) * shape.heads + head) * shape.head_vec4 + d;
          let d_score = d_scores[r * TILE4 + group];
          let weight = weights[r * TILE4 + group];
          let x = query[place];
          let y = d_output[place];
          keys0 += d_score.x * x;
          keys1 += d_score.y * x;
          keys2 += d_score.z * x;
          keys3 += d_score.w * x;
          values0 += weight.x * y;
          values1 += weight.y * y;
          values2 += weight.z * y;
          values3 += weight.w * y;
        }
        let out = places(tile + group * 4u, shape.key_rows, shape.kv_heads, kv_head) + d;
        let keys_left = shape.key_rows - min(tile + group * 4u, shape.key_rows);
        if (keys_left > 0u) {
          d_key[out.x] = select(vec4f(), d_key[out.x], adds_key) + keys0;
          d_value[out.x] = select(vec4f(), d_value[out.x], adds_value) + values0;
        }
        if (keys_left > 1u) {
          d_key[out.y] = select(vec4f(), d_key[out.y], adds_key) + keys1;
          d_value[out.y] = select(vec4f(), d_value[out.y], adds_value) + values1;
        }
        if (keys_left > 2u) {
          d_key[out.z] = select(vec4f(), d_key[out.z], adds_key) + keys2;
          d_value[out.z] = select(vec4f(), d_value[out.z], adds_value) + values2;
        }
        if (keys_left > 3u) {
          d_key[out.w] = select(vec4f(), d_key[out.w], adds_key) + keys3;
          d_value[out.w] = select(vec4f(), d_value[out.w], adds_value) + values3;
        }
      }
      workgroupBarrier();
    }
  }
}

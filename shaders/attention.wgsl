// output[r, h, :] = sum over p <= position of softmax(q[r, h] . key[p, h / G])[p] * value[p, h / G]
//
// Causal attention of every row over the cache of its own sequence, with an online softmax (Milakov and Gimelshein
// 2018): the largest score, the sum and the weighted values are corrected whenever a larger score comes along.
// query [R, HEADS, HEAD_VEC4 * 4], already scaled by 1 / sqrt(D); keys, values [cache positions, KV_HEADS, D];
// output as query. HEAD_VEC4 = ceil(D / 4), at most LANES.
//
// A workgroup takes one head of one row, keys in blocks of LANES. First every invocation scores one key. Then the
// invocations stand for the vec4s of a value, in as many groups as there is room for, each group taking its share of
// the block's keys; their sums are added up at the end.
// Dispatch: R * HEADS workgroups, folded. Preludes: grid, rows, cache*.
// Reference: src/reference/attention.ts

override HEADS: u32;
override KV_HEADS: u32;
override HEAD_DIM: u32;
/// A power of two.
override LANES: u32 = 64;

@group(0) @binding(0) var<uniform> this_pass: Pass;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> query: array<vec4f>;
@group(0) @binding(3) var<storage, read> keys: array<CacheWord>;
@group(0) @binding(4) var<storage, read> values: array<CacheWord>;
@group(0) @binding(5) var<storage, read_write> output: array<vec4f>;

/// No score is this low. (WGSL has no infinities to rely on.)
const LOWEST = -3e38;

var<workgroup> own_query: array<vec4f, LANES>;
var<workgroup> weights: array<f32, LANES>;
var<workgroup> reduced: array<f32, LANES>;
var<workgroup> partial_values: array<vec4f, LANES>;

/// The largest of the lanes' values, for all lanes.
fn largest(lane: u32, value: f32) -> f32 {
  reduced[lane] = value;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    if (lane < half) {
      reduced[lane] = max(reduced[lane], reduced[lane + half]);
    }
    workgroupBarrier();
  }
  let result = reduced[0];
  workgroupBarrier();
  return result;
}

/// exp(x) for x up to 0. What f32 sums would not feel is zero: numbers near the smallest are slow on processors.
fn weight_of(x: f32) -> f32 {
  return select(0.0, exp(x), x > -60.0);
}

@compute @workgroup_size(LANES)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let number = workgroup_number(workgroup, workgroups);
  let row = number / HEADS;
  if (row >= this_pass.rows) {
    return;
  }
  let head = number % HEADS;
  let kv_head = head / (HEADS / KV_HEADS);
  let head_vec4 = (HEAD_DIM + 3u) / 4u + this_pass.zero;
  let first_key = rows[row].cache_start * KV_HEADS + kv_head;
  let visible = rows[row].position + 1u;

  let groups = LANES / head_vec4;
  let group = lane / head_vec4;
  let word = lane % head_vec4;
  if (lane < head_vec4) {
    own_query[lane] = query[(row * HEADS + head) * head_vec4 + lane];
  }
  workgroupBarrier();

  var sum = vec4f();
  var highest = LOWEST;
  var total = 0.0;
  for (var block = 0u; block < visible; block += LANES) {
    let key = block + lane;
    var score = LOWEST;
    if (key < visible) {
      let at = (first_key + key * KV_HEADS) * head_vec4;
      score = 0.0;
      for (var d = 0u; d < head_vec4; d++) {
        score += dot(own_query[d], unpack_cache(keys[at + d]));
      }
    }
    let new_highest = max(highest, largest(lane, score));
    let weight = select(0.0, weight_of(score - new_highest), key < visible);
    weights[lane] = weight;
    workgroupBarrier();

    let correction = weight_of(highest - new_highest);
    highest = new_highest;
    total = total * correction + weight;
    sum *= correction;
    if (group < groups) {
      for (var i = group; i < min(LANES, visible - block); i += groups) {
        sum += weights[i] * unpack_cache(values[(first_key + (block + i) * KV_HEADS) * head_vec4 + word]);
      }
    }
    // The next block overwrites the weights only after the barriers in `largest`.
  }

  // Every lane has summed the weights of its own keys, and of its group's share of the values.
  reduced[lane] = total;
  partial_values[lane] = sum;
  workgroupBarrier();
  if (lane < head_vec4) {
    var all = 0.0;
    for (var i = 0u; i < LANES + this_pass.zero; i++) {
      all += reduced[i];
    }
    var result = vec4f();
    for (var i = 0u; i < groups; i++) {
      result += partial_values[i * head_vec4 + lane];
    }
    output[(row * HEADS + head) * head_vec4 + lane] = result / all;
  }
}

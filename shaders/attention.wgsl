// output[r, h, :] = sum over p <= position of softmax(q[r, h] . key[p, h / G]) * value[p, h / G]
//
// Causal attention of every row over the cache of its own sequence, with an online softmax (Milakov and Gimelshein
// 2018): the largest score, the sum and the weighted values are corrected whenever a larger score comes along.
// query [R, HEADS, HEAD_VEC4 * 4], already scaled by 1 / sqrt(D); keys, values [cache positions, KV_HEADS, D];
// output [R, HEADS * D], padded to a multiple of 4.
// A tile is a run of at most QUERIES / G rows of one sequence; a workgroup takes a tile and one key/value head, so
// that all of its queries read the same keys. KEY_LANES invocations (a power of two) share a query, each over every
// KEY_LANES-th key, and merge what they found: many for few long sequences, 1 for many queries.
// Dispatch: tiles * KV_HEADS workgroups, folded. Preludes: grid, rows, cache*; const HEAD_VEC4 = ceil(D / 4).
// Reference: src/reference/attention.ts

override HEADS: u32;
override KV_HEADS: u32;
override HEAD_DIM: u32;
override OUT_PITCH: u32;
override QUERIES: u32 = 1;
override KEY_LANES: u32 = 32;

@group(0) @binding(0) var<uniform> this_pass: Pass;
/// First row and number of rows.
@group(0) @binding(1) var<storage, read> tiles: array<vec2u>;
@group(0) @binding(2) var<storage, read> rows: array<Row>;
@group(0) @binding(3) var<storage, read> query: array<vec4f>;
@group(0) @binding(4) var<storage, read> keys: array<CacheWord>;
@group(0) @binding(5) var<storage, read> values: array<CacheWord>;
@group(0) @binding(6) var<storage, read_write> output: array<f32>;

/// No score is this low. (WGSL has no infinities to rely on.)
const LOWEST = -3e38;

/// vec4s of the result that are merged at a time.
const MERGED = 4u;

var<workgroup> partial_scores: array<vec2f, QUERIES * KEY_LANES>;
var<workgroup> partial_values: array<array<vec4f, MERGED>, QUERIES * KEY_LANES>;

fn store(row: u32, head: u32, word: u32, result: vec4f) {
  for (var j = 0u; j < 4u; j++) {
    let i = word * 4u + j;
    if (i < HEAD_DIM) {
      output[row * OUT_PITCH + head * HEAD_DIM + i] = result[j];
    }
  }
}

@compute @workgroup_size(KEY_LANES, QUERIES)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let number = workgroup_number(workgroup, workgroups);
  let group = HEADS / KV_HEADS;
  let kv_head = number % KV_HEADS;
  let is_tile = number / KV_HEADS < this_pass.tiles;
  let tile = tiles[min(number / KV_HEADS, this_pass.tiles - 1u)];
  let lane = local.x;
  // Queries past the end of the tile repeat its last row and write nothing, so that barriers stay uniform.
  let is_query = is_tile && local.y / group < tile.y;
  let row = tile.x + min(local.y / group, tile.y - 1u);
  let head = kv_head * group + local.y % group;
  let key_start = rows[row].cache_start * KV_HEADS + kv_head;
  let visible = rows[row].position + 1u;

  var q: array<vec4f, HEAD_VEC4>;
  var sums: array<vec4f, HEAD_VEC4>;
  for (var d = 0u; d < HEAD_VEC4; d++) {
    q[d] = query[(row * HEADS + head) * HEAD_VEC4 + d];
    sums[d] = vec4f();
  }
  var highest = LOWEST;
  var total = 0.0;
  for (var p = lane; p < visible; p += KEY_LANES) {
    let at = (key_start + p * KV_HEADS) * HEAD_VEC4;
    var score = 0.0;
    for (var d = 0u; d < HEAD_VEC4; d++) {
      score += dot(q[d], unpack_cache(keys[at + d]));
    }
    let new_highest = max(highest, score);
    let correction = exp(highest - new_highest);
    let weight = exp(score - new_highest);
    highest = new_highest;
    total = total * correction + weight;
    for (var d = 0u; d < HEAD_VEC4; d++) {
      sums[d] = sums[d] * correction + weight * unpack_cache(values[at + d]);
    }
  }

  if (KEY_LANES > 1u) {
    let first = local.y * KEY_LANES;
    partial_scores[first + lane] = vec2f(highest, total);
    workgroupBarrier();
    var new_highest = LOWEST;
    for (var i = 0u; i < KEY_LANES; i++) {
      new_highest = max(new_highest, partial_scores[first + i].x);
    }
    var all = 0.0;
    for (var i = 0u; i < KEY_LANES; i++) {
      all += partial_scores[first + i].y * exp(partial_scores[first + i].x - new_highest);
    }
    let correction = exp(highest - new_highest);
    for (var block = 0u; block < HEAD_VEC4; block += MERGED) {
      for (var j = 0u; j < MERGED; j++) {
        partial_values[first + lane][j] = sums[min(block + j, HEAD_VEC4 - 1u)] * correction;
      }
      workgroupBarrier();
      for (var j = lane; j < MERGED; j += KEY_LANES) {
        var sum = vec4f();
        for (var i = 0u; i < KEY_LANES; i++) {
          sum += partial_values[first + i][j];
        }
        if (is_query && block + j < HEAD_VEC4) {
          store(row, head, block + j, sum / all);
        }
      }
      workgroupBarrier();
    }
    return;
  }
  if (is_query) {
    for (var d = 0u; d < HEAD_VEC4; d++) {
      store(row, head, d, sums[d] / total);
    }
  }
}

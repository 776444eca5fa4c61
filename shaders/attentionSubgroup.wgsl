enable subgroups;

// The attention of shaders/attention.wgsl (same formula, bindings and tiles), for devices whose subgroups have a fixed,
// small size and where loads are what costs (see matmulSubgroup.wgsl).
//
// The invocations of a workgroup, one subgroup, are the queries of a tile: rows times the G heads that share a
// key/value head. Keys come in blocks of SUBGROUP: each invocation loads one key of the block, a vec4 at a time, and
// hands it to the others; so do values.
// Dispatch: tiles * KV_HEADS workgroups, folded. Preludes: grid, rows, cache*; const HEAD_VEC4 = ceil(D / 4).
// Reference: src/reference/attention.ts

override HEADS: u32;
override KV_HEADS: u32;
override HEAD_DIM: u32;
override OUT_PITCH: u32;
/// Invocations in a subgroup: 4 or 8.
override SUBGROUP: u32;

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

@compute @workgroup_size(SUBGROUP)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let number = workgroup_number(workgroup, workgroups);
  if (number / KV_HEADS >= this_pass.tiles) {
    return;
  }
  let group = HEADS / KV_HEADS;
  let kv_head = number % KV_HEADS;
  let tile = tiles[number / KV_HEADS];
  // Queries past the end of the tile repeat its last row and write nothing: their subgroup needs the keys they load.
  let is_query = lane / group < tile.y;
  let row = tile.x + min(lane / group, tile.y - 1u);
  let head = kv_head * group + lane % group;
  let key_start = rows[tile.x].cache_start * KV_HEADS + kv_head;
  let visible = rows[row].position + 1u;
  // The last row of a tile sees the most keys.
  let tile_visible = rows[tile.x + tile.y - 1u].position + 1u;

  var q: array<vec4f, HEAD_VEC4>;
  var sums: array<vec4f, HEAD_VEC4>;
  for (var d = 0u; d < HEAD_VEC4; d++) {
    q[d] = query[(row * HEADS + head) * HEAD_VEC4 + d];
    sums[d] = vec4f();
  }
  var highest = LOWEST;
  var total = 0.0;
  for (var block = 0u; block < tile_visible; block += SUBGROUP) {
    let at = (key_start + min(block + lane, tile_visible - 1u) * KV_HEADS) * HEAD_VEC4;
    var low = vec4f();
    var high = vec4f();
    for (var d = 0u; d < HEAD_VEC4; d++) {
      let key = unpack_cache(keys[at + d]);
      let x = q[d];
      low += vec4f(
        dot(x, subgroupBroadcast(key, 0)),
        dot(x, subgroupBroadcast(key, 1)),
        dot(x, subgroupBroadcast(key, 2)),
        dot(x, subgroupBroadcast(key, 3)),
      );
      if (SUBGROUP > 4u) {
        high += vec4f(
          dot(x, subgroupShuffle(key, 4u % SUBGROUP)),
          dot(x, subgroupShuffle(key, 5u % SUBGROUP)),
          dot(x, subgroupShuffle(key, 6u % SUBGROUP)),
          dot(x, subgroupShuffle(key, 7u % SUBGROUP)),
        );
      }
    }
    // Keys that the row must not see get no weight.
    let first = vec4u(0u, 1u, 2u, 3u) + block;
    low = select(vec4f(LOWEST), low, first < vec4u(visible));
    high = select(vec4f(LOWEST), high, (first + 4u < vec4u(visible)) & vec4<bool>(SUBGROUP > 4u));
    let block_highest = max(max(max(low.x, low.y), max(low.z, low.w)), max(max(high.x, high.y), max(high.z, high.w)));
    let new_highest = max(highest, block_highest);
    let correction = exp(highest - new_highest);
    highest = new_highest;
    // A row of which the whole block is hidden has seen keys before, so new_highest is a real score.
    let low_weights = exp(low - new_highest);
    let high_weights = exp(high - new_highest);
    total = total * correction + dot(low_weights, vec4f(1.0)) + dot(high_weights, vec4f(1.0));
    for (var d = 0u; d < HEAD_VEC4; d++) {
      let value = unpack_cache(values[at + d]);
      var sum = sums[d] * correction;
      sum += low_weights.x * subgroupBroadcast(value, 0);
      sum += low_weights.y * subgroupBroadcast(value, 1);
      sum += low_weights.z * subgroupBroadcast(value, 2);
      sum += low_weights.w * subgroupBroadcast(value, 3);
      if (SUBGROUP > 4u) {
        sum += high_weights.x * subgroupShuffle(value, 4u % SUBGROUP);
        sum += high_weights.y * subgroupShuffle(value, 5u % SUBGROUP);
        sum += high_weights.z * subgroupShuffle(value, 6u % SUBGROUP);
        sum += high_weights.w * subgroupShuffle(value, 7u % SUBGROUP);
      }
      sums[d] = sum;
    }
  }

  if (is_query) {
    for (var d = 0u; d < HEAD_VEC4; d++) {
      let result = sums[d] / total;
      for (var j = 0u; j < 4u; j++) {
        let i = d * 4u + j;
        if (i < HEAD_DIM) {
          output[row * OUT_PITCH + head * HEAD_DIM + i] = result[j];
        }
      }
    }
  }
}

enable subgroups;

// The attention of shaders/attention.wgsl (same formula), for devices whose subgroups have a fixed, small size and
// where loads are what costs (see matmulSubgroup.wgsl).
//
// A tile is a run of rows of one sequence; its queries, for one key/value head, are the rows times the G heads that
// share it, at most QUERIES. A workgroup, one subgroup, takes a tile and a key/value head. Its invocations share the
// vec4s of the head dimension among them, WORDS each, so that a key is loaded once for all queries and no element
// twice. Scores are summed across the subgroup; invocation j keeps that of the j-th key of a block of SUBGROUP keys.
// Dispatch: tiles * KV_HEADS workgroups, folded. Preludes: grid, rows, cache*; const QUERIES and
// WORDS = ceil(D / 4 / SUBGROUP).
// Reference: src/reference/attention.ts

/// Invocations in a subgroup: 4 or 8.
override SUBGROUP: u32;

/// Not `override`s: this shader takes software devices long to compile, so that models of many shapes share one.
struct Shape {
  heads: u32,
  kv_heads: u32,
  head_dim: u32,
}

@group(0) @binding(0) var<uniform> this_pass: Pass;
/// First row and number of rows.
@group(0) @binding(1) var<storage, read> tiles: array<vec2u>;
@group(0) @binding(2) var<storage, read> rows: array<Row>;
@group(0) @binding(3) var<storage, read> query: array<vec4f>;
@group(0) @binding(4) var<storage, read> keys: array<CacheWord>;
@group(0) @binding(5) var<storage, read> values: array<CacheWord>;
@group(0) @binding(6) var<storage, read_write> output: array<vec4f>;
@group(0) @binding(7) var<uniform> shape: Shape;

/// Results on their way out: one store in a loop is compiled much faster than one for each.
var<workgroup> results: array<vec4f, QUERIES * WORDS * SUBGROUP>;

/// No score is this low. (WGSL has no infinities to rely on.)
const LOWEST = -3e38;

/// The sum over the subgroup, by exchange, as software devices go through a subgroup's own sum step by step.
fn sum_subgroup(lane: u32, value: f32) -> f32 {
  var sum = value + subgroupShuffle(value, lane ^ 1u);
  sum += subgroupShuffle(sum, lane ^ 2u);
  if (SUBGROUP > 4u) {
    sum += subgroupShuffle(sum, lane ^ 4u);
  }
  return sum;
}

fn max_subgroup(lane: u32, value: f32) -> f32 {
  var highest = max(value, subgroupShuffle(value, lane ^ 1u));
  highest = max(highest, subgroupShuffle(highest, lane ^ 2u));
  if (SUBGROUP > 4u) {
    highest = max(highest, subgroupShuffle(highest, lane ^ 4u));
  }
  return highest;
}

@compute @workgroup_size(SUBGROUP)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let number = workgroup_number(workgroup, workgroups);
  if (number / shape.kv_heads >= this_pass.tiles) {
    return;
  }
  let head_vec4 = (shape.head_dim + 3u) / 4u;
  let group = shape.heads / shape.kv_heads;
  let kv_head = number % shape.kv_heads;
  let tile = tiles[number / shape.kv_heads];
  let first_key = rows[tile.x].cache_start * shape.kv_heads + kv_head;
  // Rows of a tile have positions one after the other; the last one sees the most keys.
  let visible = rows[tile.x].position + 1u;
  let tile_visible = visible + tile.y - 1u;

  // Queries beyond those of the tile repeat the last one and are not stored.
  var q: array<array<vec4f, WORDS>, QUERIES>;
  var sums: array<array<vec4f, WORDS>, QUERIES>;
  var highest: array<f32, QUERIES>;
  var totals: array<f32, QUERIES>;
  for (var i = 0u; i < QUERIES; i++) {
    let at = ((tile.x + min(i / group, tile.y - 1u)) * shape.heads + kv_head * group + i % group) * head_vec4;
    for (var w = 0u; w < WORDS; w++) {
      let word = w * SUBGROUP + lane;
      // Beyond the head's end a word counts nothing.
      q[i][w] = select(vec4f(), query[at + min(word, head_vec4 - 1u)], word < head_vec4);
      sums[i][w] = vec4f();
    }
    highest[i] = LOWEST;
    totals[i] = 0.0;
  }

  // Declared out here and set by hand: some drivers do not set variables to zero in every turn of a loop, as WGSL demands.
  var scores: array<f32, QUERIES>;
  var partials: array<f32, QUERIES>;
  var weights: array<f32, QUERIES>;
  for (var block = 0u; block < tile_visible; block += SUBGROUP) {
    let count = min(SUBGROUP, tile_visible - block);
    for (var j = 0u; j < count; j++) {
      let at = (first_key + (block + j) * shape.kv_heads) * head_vec4;
      for (var i = 0u; i < QUERIES; i++) {
        partials[i] = 0.0;
      }
      for (var w = 0u; w < WORDS; w++) {
        let key = unpack_cache(keys[at + min(w * SUBGROUP + lane, head_vec4 - 1u)]);
        for (var i = 0u; i < QUERIES; i++) {
          partials[i] += dot(q[i][w], key);
        }
      }
      for (var i = 0u; i < QUERIES; i++) {
        scores[i] = select(scores[i], sum_subgroup(lane, partials[i]), lane == j);
      }
    }
    for (var i = 0u; i < QUERIES; i++) {
      // Keys after the row's own position get no weight. Every row sees key 0, so that `highest` is a real score.
      let score = select(LOWEST, scores[i], block + lane < min(visible + i / group, tile_visible));
      let new_highest = max(highest[i], max_subgroup(lane, score));
      let correction = exp(highest[i] - new_highest);
      weights[i] = exp(score - new_highest);
      highest[i] = new_highest;
      totals[i] = totals[i] * correction + weights[i];
      for (var w = 0u; w < WORDS; w++) {
        sums[i][w] *= correction;
      }
    }
    for (var j = 0u; j < count; j++) {
      let at = (first_key + (block + j) * shape.kv_heads) * head_vec4;
      for (var w = 0u; w < WORDS; w++) {
        let value = unpack_cache(values[at + min(w * SUBGROUP + lane, head_vec4 - 1u)]);
        for (var i = 0u; i < QUERIES; i++) {
          sums[i][w] += subgroupShuffle(weights[i], j) * value;
        }
      }
    }
  }

  for (var i = 0u; i < QUERIES; i++) {
    let total = sum_subgroup(lane, totals[i]);
    for (var w = 0u; w < WORDS; w++) {
      results[(i * WORDS + w) * SUBGROUP + lane] = sums[i][w] / total;
    }
  }
  workgroupBarrier();
  for (var i = lane; i < tile.y * group * head_vec4; i += SUBGROUP) {
    let index = i / head_vec4;
    let head = kv_head * group + index % group;
    output[((tile.x + index / group) * shape.heads + head) * head_vec4 + i % head_vec4] =
      results[index * WORDS * SUBGROUP + i % head_vec4];
  }
}

enable subgroups;

// The attention of shaders/attention.wgsl (same formula), for devices whose subgroups have a fixed, small size and
// where loads are what costs (see matmulSubgroup.wgsl).
//
// A tile is a run of rows of one sequence; its queries, for one key/value head, are the rows times the G heads that
// share it, at most 4 * QUADS. A workgroup, one subgroup, takes a tile and a key/value head. Its invocations share the
// vec4s of the head dimension among them, WORDS each, so that a key is loaded once for all queries and no element
// twice. Scores are summed across the subgroup; invocation j keeps that of the j-th key of a block of SUBGROUP keys.
// Dispatch: tiles * KV_HEADS workgroups, folded. Preludes: grid, rows, cache*, words* with WORDS of at least
// D / 4 / SUBGROUP.
// Reference: src/reference/attention.ts

/// Invocations in a subgroup: 4 or 8.
override SUBGROUP: u32;
/// 1 or 2.
override QUADS: u32;

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
var<workgroup> results: array<vec4f, 4 * QUADS * WORDS * SUBGROUP>;

/// No score is this low. (WGSL has no infinities to rely on.)
const LOWEST = -3e38;

/// Something for each of four queries.
struct Quad {
  a: Words,
  b: Words,
  c: Words,
  d: Words,
}

/// The softmax of four queries so far: the largest score, and in each invocation the sum of its keys' weights.
struct Softmax {
  highest: vec4f,
  total: vec4f,
}

fn query_word(head: u32, word: u32, head_vec4: u32) -> vec4f {
  return select(vec4f(), query[head + min(word, head_vec4 - 1u)], word < head_vec4);
}

/// Scores of a key with four queries, as far as one invocation's words go.
fn dots(queries: ptr<function, Quad>, key: Words) -> vec4f {
  return vec4f(
    dot_words((*queries).a, key),
    dot_words((*queries).b, key),
    dot_words((*queries).c, key),
    dot_words((*queries).d, key),
  );
}

/// sums * factors + weights * value
fn blend(sums: ptr<function, Quad>, factors: vec4f, weights: vec4f, value: Words) {
  (*sums).a = blend_words((*sums).a, factors.x, weights.x, value);
  (*sums).b = blend_words((*sums).b, factors.y, weights.y, value);
  (*sums).c = blend_words((*sums).c, factors.z, weights.z, value);
  (*sums).d = blend_words((*sums).d, factors.w, weights.w, value);
}

/// The sum over the subgroup, by exchange, as software devices go through a subgroup's own sum step by step.
fn sum_subgroup(lane: u32, value: vec4f) -> vec4f {
  var sum = value + subgroupShuffle(value, lane ^ 1u);
  sum += subgroupShuffle(sum, lane ^ 2u);
  if (SUBGROUP > 4u) {
    sum += subgroupShuffle(sum, lane ^ 4u);
  }
  return sum;
}

fn max_subgroup(lane: u32, value: vec4f) -> vec4f {
  var highest = max(value, subgroupShuffle(value, lane ^ 1u));
  highest = max(highest, subgroupShuffle(highest, lane ^ 2u));
  if (SUBGROUP > 4u) {
    highest = max(highest, subgroupShuffle(highest, lane ^ 4u));
  }
  return highest;
}

/// exp(x) for x up to 0. What f32 sums would not feel is zero: numbers near the smallest are slow on processors.
fn weight_of(x: vec4f) -> vec4f {
  return select(vec4f(), exp(x), x > vec4f(-60.0));
}

/// Adds a block's scores, one key in each invocation; returns their weights and leaves the correction of older ones.
fn update(lane: u32, softmax: ptr<function, Softmax>, scores: vec4f, correction: ptr<function, vec4f>) -> vec4f {
  let highest = max((*softmax).highest, max_subgroup(lane, scores));
  *correction = weight_of((*softmax).highest - highest);
  let weights = weight_of(scores - highest);
  (*softmax).highest = highest;
  (*softmax).total = (*softmax).total * *correction + weights;
  return weights;
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
  let first_visible = rows[tile.x].position + 1u;
  let tile_visible = first_visible + tile.y - 1u;

  // Queries beyond those of the tile repeat its last row and are not stored.
  let last_row = vec4u(tile.y - 1u);
  let row1 = min(vec4u(0u, 1u, 2u, 3u) / group, last_row);
  let row2 = min(vec4u(4u, 5u, 6u, 7u) / group, last_row);
  let head1 = ((tile.x + row1) * shape.heads + kv_head * group + vec4u(0u, 1u, 2u, 3u) % group) * head_vec4;
  let head2 = ((tile.x + row2) * shape.heads + kv_head * group + vec4u(4u, 5u, 6u, 7u) % group) * head_vec4;
  let visible1 = first_visible + row1;
  let visible2 = first_visible + row2;
  var queries1 = Quad(
    query_words(head1.x, lane, head_vec4),
    query_words(head1.y, lane, head_vec4),
    query_words(head1.z, lane, head_vec4),
    query_words(head1.w, lane, head_vec4),
  );
  var queries2 = Quad(no_words(), no_words(), no_words(), no_words());
  if (QUADS > 1u) {
    queries2 = Quad(
      query_words(head2.x, lane, head_vec4),
      query_words(head2.y, lane, head_vec4),
      query_words(head2.z, lane, head_vec4),
      query_words(head2.w, lane, head_vec4),
    );
  }

  var sums1 = Quad(no_words(), no_words(), no_words(), no_words());
  var sums2 = Quad(no_words(), no_words(), no_words(), no_words());
  var softmax1 = Softmax(vec4f(LOWEST), vec4f());
  var softmax2 = Softmax(vec4f(LOWEST), vec4f());
  for (var block = 0u; block < tile_visible; block += SUBGROUP) {
    let count = min(SUBGROUP, tile_visible - block);
    // Keys after a row's own position get no weight. Every row sees key 0, so that the highest is a real score.
    var scores1 = vec4f(LOWEST);
    var scores2 = vec4f(LOWEST);
    for (var j = 0u; j < count; j++) {
      let key = key_words((first_key + (block + j) * shape.kv_heads) * head_vec4, lane, head_vec4);
      let is_own = vec4<bool>(lane == j);
      let is_visible1 = is_own & (vec4u(block + j) < visible1);
      scores1 = select(scores1, sum_subgroup(lane, dots(&queries1, key)), is_visible1);
      if (QUADS > 1u) {
        let is_visible2 = is_own & (vec4u(block + j) < visible2);
        scores2 = select(scores2, sum_subgroup(lane, dots(&queries2, key)), is_visible2);
      }
    }
    // How much what was summed before still counts; once the first value of the block has come, all of it.
    var factors1 = vec4f();
    var factors2 = vec4f();
    let weights1 = update(lane, &softmax1, scores1, &factors1);
    var weights2 = vec4f();
    if (QUADS > 1u) {
      weights2 = update(lane, &softmax2, scores2, &factors2);
    }
    for (var j = 0u; j < count; j++) {
      let value = value_words((first_key + (block + j) * shape.kv_heads) * head_vec4, lane, head_vec4);
      blend(&sums1, factors1, subgroupShuffle(weights1, j), value);
      factors1 = vec4f(1.0);
      if (QUADS > 1u) {
        blend(&sums2, factors2, subgroupShuffle(weights2, j), value);
        factors2 = vec4f(1.0);
      }
    }
  }

  let total1 = sum_subgroup(lane, softmax1.total);
  store_words(0u, lane, total1.x, sums1.a);
  store_words(WORDS * SUBGROUP, lane, total1.y, sums1.b);
  store_words(2u * WORDS * SUBGROUP, lane, total1.z, sums1.c);
  store_words(3u * WORDS * SUBGROUP, lane, total1.w, sums1.d);
  if (QUADS > 1u) {
    let total2 = sum_subgroup(lane, softmax2.total);
    store_words(4u * WORDS * SUBGROUP, lane, total2.x, sums2.a);
    store_words(5u * WORDS * SUBGROUP, lane, total2.y, sums2.b);
    store_words(6u * WORDS * SUBGROUP, lane, total2.z, sums2.c);
    store_words(7u * WORDS * SUBGROUP, lane, total2.w, sums2.d);
  }
  workgroupBarrier();
  for (var i = lane; i < tile.y * group * head_vec4; i += SUBGROUP) {
    let index = i / head_vec4;
    let head = kv_head * group + index % group;
    output[((tile.x + index / group) * shape.heads + head) * head_vec4 + i % head_vec4] =
      results[index * WORDS * SUBGROUP + i % head_vec4];
  }
}

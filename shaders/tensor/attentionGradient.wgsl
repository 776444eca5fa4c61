// Gradients of shaders/tensor/attention.wgsl, whose shapes and numbering of rows hold here too. They recompute the weights
// p from the logarithm of each row's softmax sum instead of storing them:
//
//   backward_query:  d_score = scale * p * (d_output . value - delta),  delta = d_output . output;
//                    d_query = sum over j of d_score key, or += where it accumulates. Adds delta to statistics.
//   backward_key:    after it: d_value += sum of p d_output; d_key += sum of d_score query, over the rows and query heads
//                    that see the key, of own keys only: a prefix has no gradient. No two workgroups write to one place.
//
// statistics [R, heads] of (logarithm of the softmax sum, delta).
// A workgroup takes up to TILE numbered rows (backward_key: own keys) of one sequence and runs over what they see, or
// what sees them, in blocks of TILE. Source: Dao et al. 2022 (FlashAttention), algorithm 4.
// Dispatch: backward_query sequences * tiles * heads / members workgroups, backward_key, where members is heads / kv_heads,
// sequences * tiles * kv_heads, folded. Preludes: grid, attentionShape, attentionTiles.
// Reference: src/reference/attention.ts

@group(0) @binding(5) var<storage, read> d_output: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> statistics: array<vec2f>;
@group(0) @binding(7) var<storage, read> output: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> d_query: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> d_own: array<vec4f>;

/// [key][numbered rows / 4] in backward_query, [numbered row][keys / 4] in backward_key.
var<workgroup> d_scores: array<vec4f, TILE * TILE4>;
/// As d_scores in backward_key.
var<workgroup> weights: array<vec4f, TILE * TILE4>;
/// Logarithms of softmax sums and deltas of numbered rows.
var<workgroup> row_lse: array<vec4f, TILE4>;
var<workgroup> row_delta: array<vec4f, TILE4>;

/// What of a row `products` takes: the query, or the gradient of the output.
const QUERY = 0u;
const D_OUTPUT = 1u;

fn row_vec4(kind: u32, at: u32) -> vec4f {
  if (kind == QUERY) {
    return query[at];
  }
  return d_output[at];
}

fn key_vec4(segment: u32, at: u32) -> vec4f {
  if (segment == PREFIX) {
    return prefix[at];
  }
  return own[at];
}

@compute @workgroup_size(LANES)
fn backward_query(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let tile = tile_of(workgroup_number(workgroup, workgroups), TILE);
  if (tile.count == 0u) {
    return;
  }
  let sequence = tile.sequence;
  let quads = (tile.count + 3u) / 4u;

  if (lane < quads) {
    let numbered = four(lane * 4u, tile.count);
    let rows = sequence.row + tile.start + numbered / shape.members;
    let places = rows * shape.heads + tile.first_head + numbered % shape.members;
    var delta = vec4f();
    var lse = vec4f();
    for (var r = 0u; r < 4u; r++) {
      let at = places[r] * shape.head_vec4;
      var sum = 0.0;
      for (var d = 0u; d < shape.head_vec4; d++) {
        sum += dot(output[at + d], d_output[at + d]);
      }
      delta[r] = sum;
      lse[r] = statistics[places[r]].x;
      statistics[places[r]].y = sum;
    }
    row_lse[lane] = lse;
    row_delta[lane] = delta;
  }
  workgroupBarrier();

  var is_first = true;
  for (var segment = PREFIX; segment <= OWN; segment++) {
    let is_own = segment == OWN;
    let start = select(sequence.prefix, sequence.own, is_own);
    let before = sequence.own_before + tile.start;
    let keys = select(sequence.prefix_keys, before + tile.rows, is_own);

    for (var block = 0u; block < keys; block += TILE) {
      for (var item = lane; item < quads * TILE4; item += LANES) {
        let quad = item / TILE4;
        let first_key = block + item % TILE4 * 4u;
        if (first_key < keys) {
          let numbered = four(quad * 4u, tile.count);
          let row = sequence.row + tile.start + numbered / shape.members;
          let q = (row * shape.heads + tile.first_head + numbered % shape.members) * shape.head_vec4;
          let k = ((start + four(first_key, keys)) * 2u * shape.kv_heads + tile.kv_head) * shape.head_vec4;
          let scores = products(QUERY, q, segment, k, shape.head_vec4) * shape.scale;
          let d_weights = products(D_OUTPUT, q, segment, k + shape.kv_heads * shape.head_vec4, shape.head_vec4);
          let sees = select(vec4u(keys), vec4u(before + 1u) + numbered / shape.members, is_own);
          let at = item % TILE4 * 4u * TILE4 + quad;
          for (var j = 0u; j < 4u; j++) {
            // What is not seen may have any score: no exponent above 0.
            let weight = select(vec4f(), exp(min(scores[j] - row_lse[quad], vec4f())), vec4u(first_key + j) < sees);
            d_scores[at + j * TILE4] = weight * (d_weights[j] - row_delta[quad]) * shape.scale;
          }
        }
      }
      workgroupBarrier();

      let block_keys = min(TILE, keys - block);
      for (var item = lane; item < quads * shape.head_vec4; item += LANES) {
        let quad = item / shape.head_vec4;
        let d = item % shape.head_vec4;
        let step = 2u * shape.kv_heads * shape.head_vec4;
        var k = (start + block) * step + tile.kv_head * shape.head_vec4 + d;
        var sums = mat4x4f();
        for (var j = 0u; j < block_keys; j++) {
          let d_score = d_scores[j * TILE4 + quad];
          let x = key_vec4(segment, k);
          sums[0] += d_score.x * x;
          sums[1] += d_score.y * x;
          sums[2] += d_score.z * x;
          sums[3] += d_score.w * x;
          k += step;
        }
        for (var r = 0u; r < min(4u, tile.count - quad * 4u); r++) {
          let numbered = quad * 4u + r;
          let row = sequence.row + tile.start + numbered / shape.members;
          let at = (row * shape.heads + tile.first_head + numbered % shape.members) * shape.head_vec4 + d;
          var sum = sums[r];
          if (!is_first || shape.accumulates != 0u) {
            sum += d_query[at];
          }
          d_query[at] = sum;
        }
      }
      is_first = false;
      workgroupBarrier();
    }
  }
}

@compute @workgroup_size(LANES)
fn backward_key(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let number = workgroup_number(workgroup, workgroups);
  let kv_head = number % shape.kv_heads;
  let index = number / shape.kv_heads;
  if (index >= shape.sequences * shape.tiles) {
    return;
  }
  let sequence = sequences[index / shape.tiles];
  let tile = index % shape.tiles * TILE;
  let own_keys = sequence.own_before + sequence.rows;
  if (tile >= own_keys) {
    return;
  }
  let first_head = kv_head * shape.members;
  let keys = min(TILE, own_keys - tile);
  let quads = (keys + 3u) / 4u;
  let count = sequence.rows * shape.members;
  // The first row that sees any of the keys.
  let first_row = max(tile, sequence.own_before) - sequence.own_before;
  let step = 2u * shape.kv_heads * shape.head_vec4;

  for (var block = first_row * shape.members; block < count; block += TILE) {
    let block_rows = min(TILE, count - block);
    for (var item = lane; item < quads * TILE4; item += LANES) {
      let quad = item / TILE4;
      let first = block + item % TILE4 * 4u;
      if (first < count) {
        let numbered = four(first, count);
        let row = numbered / shape.members;
        let places = (sequence.row + row) * shape.heads + first_head + numbered % shape.members;
        let k = ((sequence.own + tile + four(quad * 4u, keys)) * 2u * shape.kv_heads + kv_head) * shape.head_vec4;
        let scores = products(QUERY, places * shape.head_vec4, OWN, k, shape.head_vec4);
        let d_weights =
          products(D_OUTPUT, places * shape.head_vec4, OWN, k + shape.kv_heads * shape.head_vec4, shape.head_vec4);
        let of_row = transpose(scores) * shape.scale;
        let d_of_row = transpose(d_weights);
        let key = vec4u(tile + quad * 4u) + vec4u(0u, 1u, 2u, 3u);
        let at = item % TILE4 * 4u * TILE4 + quad;
        for (var r = 0u; r < 4u; r++) {
          let known = statistics[places[r]];
          let is_seen = key <= vec4u(sequence.own_before + row[r]);
          let weight = select(vec4f(), exp(min(of_row[r] - known.x, vec4f())), is_seen);
          weights[at + r * TILE4] = weight;
          d_scores[at + r * TILE4] = weight * (d_of_row[r] - known.y) * shape.scale;
        }
      }
    }
    workgroupBarrier();

    for (var item = lane; item < quads * shape.head_vec4; item += LANES) {
      let quad = item / shape.head_vec4;
      let d = item % shape.head_vec4;
      var d_keys = mat4x4f();
      var d_values = mat4x4f();
      for (var r = 0u; r < block_rows; r++) {
        let numbered = block + r;
        let row = sequence.row + numbered / shape.members;
        let at = (row * shape.heads + first_head + numbered % shape.members) * shape.head_vec4 + d;
        let d_score = d_scores[r * TILE4 + quad];
        let weight = weights[r * TILE4 + quad];
        let x = query[at];
        let y = d_output[at];
        d_keys[0] += d_score.x * x;
        d_keys[1] += d_score.y * x;
        d_keys[2] += d_score.z * x;
        d_keys[3] += d_score.w * x;
        d_values[0] += weight.x * y;
        d_values[1] += weight.y * y;
        d_values[2] += weight.z * y;
        d_values[3] += weight.w * y;
      }
      let adds = block != first_row * shape.members || shape.accumulates != 0u;
      for (var j = 0u; j < min(4u, keys - quad * 4u); j++) {
        let at = (sequence.own + tile + quad * 4u + j) * step + kv_head * shape.head_vec4 + d;
        let value_at = at + shape.kv_heads * shape.head_vec4;
        var d_key = d_keys[j];
        var d_value = d_values[j];
        if (adds) {
          d_key += d_own[at];
          d_value += d_own[value_at];
        }
        d_own[at] = d_key;
        d_own[value_at] = d_value;
      }
    }
    workgroupBarrier();
  }
}

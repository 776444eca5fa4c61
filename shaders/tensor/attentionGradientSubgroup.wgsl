enable subgroups;

// The gradients of shaders/tensor/attentionGradient.wgsl (same formulas and bindings), for devices whose subgroups have a
// fixed, small size; see attentionSubgroup.wgsl. In backward_key an invocation stands for an own key, keeps key, value and
// both gradients, and every query and its output's gradient is loaded once for all of them.
// Dispatch: backward_query sequences * tiles * heads / members workgroups, backward_key, where members is heads / kv_heads,
// sequences * tiles * kv_heads, folded. Preludes: grid, attentionShape, attentionHeads.
// Reference: src/reference/attention.ts

@group(0) @binding(5) var<storage, read> d_output: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> statistics: array<vec2f>;
@group(0) @binding(7) var<storage, read> output: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> d_query: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> d_own: array<vec4f>;

const QUERY = 2u;
const D_OUTPUT = 3u;

fn vec4_of(source: u32, at: u32) -> vec4f {
  if (source == PREFIX) {
    return prefix[at];
  }
  if (source == OWN) {
    return own[at];
  }
  if (source == QUERY) {
    return query[at];
  }
  return d_output[at];
}

/// Adds to the gradient of a row's query what comes from the first `keys` keys from `first` on, of which the row sees the
/// first `sees`. `known` is (logarithm of the softmax sum, delta).
/// `source` is a constant where it is called, and each call is compiled for itself: a branch at each load would cost more.
fn take_keys(
  source: u32,
  first: u32,
  keys: u32,
  sees: u32,
  lane: u32,
  known: vec2f,
  q: ptr<function, Head>,
  d_out: ptr<function, Head>,
  sums: ptr<function, Head>,
) {
  let to_value = shape.kv_heads * shape.head_vec4;
  for (var block = 0u; block < keys; block += 4u) {
    let numbers = vec4u(block) + vec4u(0u, 1u, 2u, 3u);
    let k = first + min(numbers, vec4u(keys - 1u)) * 2u * to_value;
    var a = load_piece(source, k.x + to_value, lane);
    var b = load_piece(source, k.y + to_value, lane);
    var c = load_piece(source, k.z + to_value, lane);
    var d = load_piece(source, k.w + to_value, lane);
    let d_weights = vec4f(dot_shared(d_out, &a), dot_shared(d_out, &b), dot_shared(d_out, &c), dot_shared(d_out, &d));
    a = load_piece(source, k.x, lane);
    b = load_piece(source, k.y, lane);
    c = load_piece(source, k.z, lane);
    d = load_piece(source, k.w, lane);
    let scores = vec4f(dot_shared(q, &a), dot_shared(q, &b), dot_shared(q, &c), dot_shared(q, &d)) * shape.scale;
    // What is not seen may have any score: no exponent above 0.
    let weights = select(vec4f(), exp(min(scores - known.x, vec4f())), numbers < vec4u(sees));
    let d_scores = weights * (d_weights - known.y) * shape.scale;
    add_shared(sums, d_scores.x, &a);
    add_shared(sums, d_scores.y, &b);
    add_shared(sums, d_scores.z, &c);
    add_shared(sums, d_scores.w, &d);
  }
}

@compute @workgroup_size(SUBGROUP)
fn backward_query(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let tile = tile_of(workgroup_number(workgroup, workgroups), SUBGROUP);
  if (tile.count == 0u) {
    return;
  }
  let sequence = tile.sequence;
  // Invocations past the last row go on, as their subgroup needs the pieces they load.
  let numbered = min(lane, tile.count - 1u);
  let row = tile.start + numbered / shape.members;
  let place = (sequence.row + row) * shape.heads + tile.first_head + numbered % shape.members;
  let step = 2u * shape.kv_heads * shape.head_vec4;
  let own_keys = sequence.own_before + tile.start + tile.rows;

  var q = load_head(QUERY, place * shape.head_vec4, shape.head_vec4);
  var d_out = load_head(D_OUTPUT, place * shape.head_vec4, shape.head_vec4);
  var known = vec2f(statistics[place].x, 0.0);
  for (var d = 0u; d < shape.head_vec4; d++) {
    known.y += dot(output[place * shape.head_vec4 + d], d_output[place * shape.head_vec4 + d]);
  }
  var sums: Head;
  let prefix = sequence.prefix * step + tile.kv_head * shape.head_vec4;
  take_keys(PREFIX, prefix, sequence.prefix_keys, sequence.prefix_keys, lane, known, &q, &d_out, &sums);
  let own = sequence.own * step + tile.kv_head * shape.head_vec4;
  take_keys(OWN, own, own_keys, sequence.own_before + row + 1u, lane, known, &q, &d_out, &sums);

  if (lane >= tile.count) {
    return;
  }
  statistics[place].y = known.y;
  // In memory, as the loop indexes it.
  var result = sums;
  for (var d = 0u; d < shape.head_vec4; d++) {
    let at = place * shape.head_vec4 + d;
    var sum = result[d];
    if (shape.accumulates != 0u) {
      sum += d_query[at];
    }
    d_query[at] = sum;
  }
}

@compute @workgroup_size(SUBGROUP)
fn backward_key(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let number = workgroup_number(workgroup, workgroups);
  let kv_head = number % shape.kv_heads;
  let index = number / shape.kv_heads;
  if (index >= shape.sequences * shape.tiles) {
    return;
  }
  let sequence = sequences[index / shape.tiles];
  let tile = index % shape.tiles * SUBGROUP;
  let keys = sequence.own_before + sequence.rows;
  if (tile >= keys) {
    return;
  }
  let first_head = kv_head * shape.members;
  let count = sequence.rows * shape.members;
  let key = min(tile + lane, keys - 1u);
  let place = ((sequence.own + key) * 2u * shape.kv_heads + kv_head) * shape.head_vec4;
  let to_value = shape.kv_heads * shape.head_vec4;
  var k = load_head(OWN, place, shape.head_vec4);
  var v = load_head(OWN, place + to_value, shape.head_vec4);
  var d_key: Head;
  var d_value: Head;
  // From the first row on that sees any of the keys.
  let first_row = max(tile, sequence.own_before) - sequence.own_before;
  for (var block = first_row * shape.members; block < count; block += 4u) {
    let numbers = vec4u(block) + vec4u(0u, 1u, 2u, 3u);
    let numbered = min(numbers, vec4u(count - 1u));
    let row = numbered / shape.members;
    let places = (sequence.row + row) * shape.heads + first_head + numbered % shape.members;
    let known0 = statistics[places.x];
    let known1 = statistics[places.y];
    let known2 = statistics[places.z];
    let known3 = statistics[places.w];
    let q = places * shape.head_vec4;
    var a = load_piece(QUERY, q.x, lane);
    var b = load_piece(QUERY, q.y, lane);
    var c = load_piece(QUERY, q.z, lane);
    var d = load_piece(QUERY, q.w, lane);
    var e = load_piece(D_OUTPUT, q.x, lane);
    var f = load_piece(D_OUTPUT, q.y, lane);
    var g = load_piece(D_OUTPUT, q.z, lane);
    var h = load_piece(D_OUTPUT, q.w, lane);
    let scores = vec4f(dot_shared(&k, &a), dot_shared(&k, &b), dot_shared(&k, &c), dot_shared(&k, &d)) * shape.scale;
    let d_weights = vec4f(dot_shared(&v, &e), dot_shared(&v, &f), dot_shared(&v, &g), dot_shared(&v, &h));
    let is_seen = (numbers < vec4u(count)) & (vec4u(key) <= vec4u(sequence.own_before) + row);
    let lse = vec4f(known0.x, known1.x, known2.x, known3.x);
    let weights = select(vec4f(), exp(min(scores - lse, vec4f())), is_seen);
    let d_scores = weights * (d_weights - vec4f(known0.y, known1.y, known2.y, known3.y)) * shape.scale;
    add_shared(&d_key, d_scores.x, &a);
    add_shared(&d_key, d_scores.y, &b);
    add_shared(&d_key, d_scores.z, &c);
    add_shared(&d_key, d_scores.w, &d);
    add_shared(&d_value, weights.x, &e);
    add_shared(&d_value, weights.y, &f);
    add_shared(&d_value, weights.z, &g);
    add_shared(&d_value, weights.w, &h);
  }

  if (tile + lane >= keys) {
    return;
  }
  // In memory, as the loop indexes them.
  var d_keys = d_key;
  var d_values = d_value;
  for (var d = 0u; d < shape.head_vec4; d++) {
    var of_key = d_keys[d];
    var of_value = d_values[d];
    if (shape.accumulates != 0u) {
      of_key += d_own[place + d];
      of_value += d_own[place + to_value + d];
    }
    d_own[place + d] = of_key;
    d_own[place + to_value + d] = of_value;
  }
}

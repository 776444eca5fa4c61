enable subgroups;

// The attention of shaders/tensor/attention.wgsl (same formula and bindings), for devices whose subgroups have a fixed,
// small size and where loads are what costs (see shaders/matmulSubgroup.wgsl).
//
// A workgroup is one subgroup and takes SUBGROUP numbered rows (common/attentionShape.wgsl) of one sequence, one for each
// invocation, which keeps the row's query and result in registers. Every key and value is loaded once for all of them.
// Dispatch: sequences * tiles * heads / members workgroups, folded. Preludes: grid, attentionShape, attentionHeads.
// Reference: src/reference/attention.ts

@group(0) @binding(5) var<storage, read_write> output: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> statistics: array<vec2f>;

const QUERY = 2u;

fn vec4_of(source: u32, at: u32) -> vec4f {
  if (source == PREFIX) {
    return prefix[at];
  }
  if (source == OWN) {
    return own[at];
  }
  return query[at];
}

/// Adds to a row's softmax (the highest score and the sum of weights so far) and its sum of values the first `keys` keys
/// from `first` on, of which this invocation's row sees the first `sees`.
/// `source` is a constant where it is called, and each call is compiled for itself: a branch at each load would cost more.
fn take_keys(
  source: u32,
  first: u32,
  keys: u32,
  sees: u32,
  lane: u32,
  q: ptr<function, Head>,
  softmax: ptr<function, vec2f>,
  sums: ptr<function, Head>,
) {
  let to_value = shape.kv_heads * shape.head_vec4;
  for (var block = 0u; block < keys; block += 4u) {
    let numbers = vec4u(block) + vec4u(0u, 1u, 2u, 3u);
    let k = first + min(numbers, vec4u(keys - 1u)) * 2u * to_value;
    var a = load_piece(source, k.x, lane);
    var b = load_piece(source, k.y, lane);
    var c = load_piece(source, k.z, lane);
    var d = load_piece(source, k.w, lane);
    let scores = vec4f(dot_shared(q, &a), dot_shared(q, &b), dot_shared(q, &c), dot_shared(q, &d)) * shape.scale;
    let is_seen = numbers < vec4u(sees);
    let seen = select(vec4f(LOWEST), scores, is_seen);
    let highest = max((*softmax).x, max(max(seen.x, seen.y), max(seen.z, seen.w)));
    let correction = exp((*softmax).x - highest);
    let weights = select(vec4f(), exp(min(scores - highest, vec4f())), is_seen);
    *softmax = vec2f(highest, (*softmax).y * correction + weights.x + weights.y + weights.z + weights.w);
    scale_head(sums, correction);
    a = load_piece(source, k.x + to_value, lane);
    b = load_piece(source, k.y + to_value, lane);
    c = load_piece(source, k.z + to_value, lane);
    d = load_piece(source, k.w + to_value, lane);
    add_shared(sums, weights.x, &a);
    add_shared(sums, weights.y, &b);
    add_shared(sums, weights.z, &c);
    add_shared(sums, weights.w, &d);
  }
}

@compute @workgroup_size(SUBGROUP)
fn forward(
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
  var softmax = vec2f(LOWEST, 0.0);
  var sums: Head;
  let prefix = sequence.prefix * step + tile.kv_head * shape.head_vec4;
  take_keys(PREFIX, prefix, sequence.prefix_keys, sequence.prefix_keys, lane, &q, &softmax, &sums);
  let own = sequence.own * step + tile.kv_head * shape.head_vec4;
  take_keys(OWN, own, own_keys, sequence.own_before + row + 1u, lane, &q, &softmax, &sums);

  if (lane >= tile.count) {
    return;
  }
  statistics[place] = vec2f(softmax.x + log(softmax.y), 0.0);
  // In memory, as the loop indexes it.
  var result = sums;
  for (var d = 0u; d < shape.head_vec4; d++) {
    output[place * shape.head_vec4 + d] = result[d] / softmax.y;
  }
}

enable subgroups;

// The attention of shaders/tensor/attention.wgsl (same formula and bindings), for devices whose subgroups have a fixed,
// small size and where loads are what costs (see shaders/matmulSubgroup.wgsl).
//
// A workgroup is one subgroup and takes SUBGROUP numbered rows (common/attentionShape.wgsl) of one sequence, one for each
// invocation, which keeps the row's query and result in registers. Every key and value is loaded once for all of them.
// Dispatch: sequences * tiles * heads / members workgroups, folded. Preludes: grid, attentionShape, attentionHeads.
// Reference: src/reference/attention.ts

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> query: array<vec4f>;
@group(0) @binding(2) var<storage, read> prefix: array<vec4f>;
@group(0) @binding(3) var<storage, read> own: array<vec4f>;
@group(0) @binding(4) var<storage, read> sequences: array<Sequence>;
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

@compute @workgroup_size(SUBGROUP)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(subgroup_invocation_id) lane: u32,
) {
  let number = workgroup_number(workgroup, workgroups);
  let head_blocks = shape.heads / shape.members;
  let first_head = number % head_blocks * shape.members;
  let index = number / head_blocks;
  if (index >= shape.sequences * shape.tiles) {
    return;
  }
  let sequence = sequences[index / shape.tiles];
  let tile_rows = SUBGROUP / shape.members;
  let tile = index % shape.tiles * tile_rows;
  if (tile >= sequence.rows) {
    return;
  }
  let kv_head = first_head / (shape.heads / shape.kv_heads);
  let rows = min(tile_rows, sequence.rows - tile);
  let count = rows * shape.members;
  // Invocations past the last row go on, as their subgroup needs the pieces they load.
  let numbered = min(lane, count - 1u);
  let row = tile + numbered / shape.members;
  let place = (sequence.row + row) * shape.heads + first_head + numbered % shape.members;
  let step = 2u * shape.kv_heads * shape.head_vec4;
  let to_value = shape.kv_heads * shape.head_vec4;

  var q = load_head(QUERY, place * shape.head_vec4, shape.head_vec4);
  var sums: Head;
  var highest = LOWEST;
  var total = 0.0;
  for (var segment = PREFIX; segment <= OWN; segment++) {
    let is_own = segment == OWN;
    let start = select(sequence.prefix, sequence.own, is_own);
    let keys = select(sequence.prefix_keys, sequence.own_before + tile + rows, is_own);
    let sees = select(keys, sequence.own_before + row + 1u, is_own);
    for (var block = 0u; block < keys; block += 4u) {
      let numbers = vec4u(block) + vec4u(0u, 1u, 2u, 3u);
      let k = (start + min(numbers, vec4u(keys - 1u))) * step + kv_head * shape.head_vec4;
      var a = load_piece(segment, k.x, lane);
      var b = load_piece(segment, k.y, lane);
      var c = load_piece(segment, k.z, lane);
      var d = load_piece(segment, k.w, lane);
      let scores =
        vec4f(dot_shared(&q, &a), dot_shared(&q, &b), dot_shared(&q, &c), dot_shared(&q, &d)) * shape.scale;
      let is_seen = numbers < vec4u(sees);
      let seen = select(vec4f(LOWEST), scores, is_seen);
      let new_highest = max(highest, max(max(seen.x, seen.y), max(seen.z, seen.w)));
      let correction = exp(highest - new_highest);
      let weights = select(vec4f(), exp(min(scores - new_highest, vec4f())), is_seen);
      highest = new_highest;
      total = total * correction + weights.x + weights.y + weights.z + weights.w;
      scale_head(&sums, correction);
      a = load_piece(segment, k.x + to_value, lane);
      b = load_piece(segment, k.y + to_value, lane);
      c = load_piece(segment, k.z + to_value, lane);
      d = load_piece(segment, k.w + to_value, lane);
      add_shared(&sums, weights.x, &a);
      add_shared(&sums, weights.y, &b);
      add_shared(&sums, weights.z, &c);
      add_shared(&sums, weights.w, &d);
    }
  }

  if (lane >= count) {
    return;
  }
  statistics[place] = vec2f(highest + log(total), 0.0);
  // In memory, as the loop indexes it.
  var result = sums;
  for (var d = 0u; d < shape.head_vec4; d++) {
    output[place * shape.head_vec4 + d] = result[d] / total;
  }
}

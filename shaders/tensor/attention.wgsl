// output[r, h, :] = sum over keys j that row r sees of p[j] * value[j, h / G, :],
//   p = softmax over j of scale * query[r, h, :] . key[j, h / G, :],   G = heads / kv_heads
//
// query, output [R, heads, D]; prefix and own keys and values [K, 2 kv_heads, D], keys first; one head a row, each
// padded to head_vec4 vec4s with zeros. statistics [R, heads] gets (logarithm of the softmax sum, 0) for the gradients.
//
// A workgroup takes up to TILE numbered rows (common/attentionShape.wgsl) of one sequence and runs over the keys they see
// in blocks of TILE. First its invocations compute the block's scores, 4 by 4 each, into workgroup memory; then they
// stand for 4 rows by one vec4 of the result each, which they keep in the result itself: no array in registers, which
// some compilers unroll for minutes. Source: Dao et al. 2022 (FlashAttention), algorithm 1.
// Dispatch: sequences * tiles * heads / members workgroups, folded. Preludes: grid, attentionShape, attentionTiles.
// Reference: src/reference/attention.ts

@group(0) @binding(5) var<storage, read_write> output: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> statistics: array<vec2f>;

const LOWEST = -3e38;

/// The scores, then the weights of a block: [key][numbered rows / 4], 4 numbered rows in a vec4.
var<workgroup> weights: array<vec4f, TILE * TILE4>;
/// What earlier sums of a row are multiplied with after a larger score has come; in the end 1 / sum.
var<workgroup> corrections: array<vec4f, TILE4>;

fn row_vec4(kind: u32, at: u32) -> vec4f {
  return query[at];
}

fn key_vec4(segment: u32, at: u32) -> vec4f {
  if (segment == PREFIX) {
    return prefix[at];
  }
  return own[at];
}

@compute @workgroup_size(LANES)
fn forward(
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

  // While a softmax is computed, the first lanes stand for 4 numbered rows each.
  var highest = vec4f(LOWEST);
  var total = vec4f();
  var is_first = true;

  for (var segment = PREFIX; segment <= OWN; segment++) {
    let is_own = segment == OWN;
    let start = select(sequence.prefix, sequence.own, is_own);
    let before = sequence.own_before + tile.start;
    let keys = select(sequence.prefix_keys, before + tile.rows, is_own);
    // Keys that the numbered rows of this lane see.
    let sees = select(vec4u(keys), vec4u(before + 1u) + four(lane * 4u, tile.count) / shape.members, is_own);

    for (var block = 0u; block < keys; block += TILE) {
      for (var item = lane; item < quads * TILE4; item += LANES) {
        let first_key = block + item % TILE4 * 4u;
        if (first_key < keys) {
          let numbered = four(item / TILE4 * 4u, tile.count);
          let row = sequence.row + tile.start + numbered / shape.members;
          let q = (row * shape.heads + tile.first_head + numbered % shape.members) * shape.head_vec4;
          let k = ((start + four(first_key, keys)) * 2u * shape.kv_heads + tile.kv_head) * shape.head_vec4;
          let scores = products(0u, q, segment, k, shape.head_vec4) * shape.scale;
          let at = item % TILE4 * 4u * TILE4 + item / TILE4;
          weights[at] = scores[0];
          weights[at + TILE4] = scores[1];
          weights[at + 2u * TILE4] = scores[2];
          weights[at + 3u * TILE4] = scores[3];
        }
      }
      workgroupBarrier();

      let block_keys = min(TILE, keys - block);
      if (lane < quads) {
        var new_highest = highest;
        for (var j = 0u; j < block_keys; j++) {
          let is_seen = vec4u(block + j) < sees;
          new_highest = max(new_highest, select(vec4f(LOWEST), weights[j * TILE4 + lane], is_seen));
        }
        let correction = exp(highest - new_highest);
        total *= correction;
        highest = new_highest;
        for (var j = 0u; j < block_keys; j++) {
          let is_seen = vec4u(block + j) < sees;
          let score = weights[j * TILE4 + lane];
          let weight = select(vec4f(), exp(min(score - new_highest, vec4f())), is_seen);
          weights[j * TILE4 + lane] = weight;
          total += weight;
        }
        corrections[lane] = correction;
      }
      workgroupBarrier();

      for (var item = lane; item < quads * shape.head_vec4; item += LANES) {
        let quad = item / shape.head_vec4;
        let d = item % shape.head_vec4;
        let step = 2u * shape.kv_heads * shape.head_vec4;
        var v = (start + block) * step + (shape.kv_heads + tile.kv_head) * shape.head_vec4 + d;
        var sums = mat4x4f();
        for (var j = 0u; j < block_keys; j++) {
          let weight = weights[j * TILE4 + quad];
          let x = key_vec4(segment, v);
          sums[0] += weight.x * x;
          sums[1] += weight.y * x;
          sums[2] += weight.z * x;
          sums[3] += weight.w * x;
          v += step;
        }
        let correction = corrections[quad];
        for (var r = 0u; r < min(4u, tile.count - quad * 4u); r++) {
          let numbered = quad * 4u + r;
          let row = sequence.row + tile.start + numbered / shape.members;
          let at = (row * shape.heads + tile.first_head + numbered % shape.members) * shape.head_vec4 + d;
          var sum = sums[r];
          if (!is_first) {
            sum += output[at] * correction[r];
          }
          output[at] = sum;
        }
      }
      is_first = false;
      workgroupBarrier();
    }
  }

  if (lane < quads) {
    corrections[lane] = 1.0 / total;
    let sums = highest + log(total);
    for (var r = 0u; r < min(4u, tile.count - lane * 4u); r++) {
      let numbered = lane * 4u + r;
      let row = sequence.row + tile.start + numbered / shape.members;
      statistics[row * shape.heads + tile.first_head + numbered % shape.members] = vec2f(sums[r], 0.0);
    }
  }
  workgroupBarrier();
  // The same invocations as before finish what they have summed.
  for (var item = lane; item < quads * shape.head_vec4; item += LANES) {
    let quad = item / shape.head_vec4;
    let d = item % shape.head_vec4;
    for (var r = 0u; r < min(4u, tile.count - quad * 4u); r++) {
      let numbered = quad * 4u + r;
      let row = sequence.row + tile.start + numbered / shape.members;
      let at = (row * shape.heads + tile.first_head + numbered % shape.members) * shape.head_vec4 + d;
      output[at] *= corrections[quad][r];
    }
  }
}

// Splits a row of the fused q|k|v product into heads, normalises q and k (qwen3), turns them by the row's position and
// puts q into its own buffer and k and v into the cache.
//
// q, k: y = x / sqrt(mean of x^2 + EPSILON) * norm[i] over the head (only with QK_NORM), then the rotary embedding:
//   out[i]        = y[i] * cos(a_i) - y[i + D/2] * sin(a_i)
//   out[i + D/2]  = y[i + D/2] * cos(a_i) + y[i] * sin(a_i),   a_i = position * theta^(-2 i / D)
// q is also scaled by 1 / sqrt(D), which attention would have to do for every key.
// qkv [R, (HEADS + 2 KV_HEADS) * D], angles [positions, D/2] as (cos, sin), norms [2, D] (q, then k),
// query [R, HEADS, D4 * 4], keys and values [cache positions, KV_HEADS, D4 * 4]; padding of a head is zero.
// LANES invocations (a power of two) work on a head, GROUP heads are in a workgroup.
// Dispatch: ceil(R * (HEADS + 2 KV_HEADS) / GROUP) workgroups, folded. Preludes: grid, rows, cache*.
// Reference: src/reference/rmsNorm.ts, src/reference/rope.ts

override HEADS: u32;
override KV_HEADS: u32;
override HEAD_DIM: u32;
override QKV_PITCH: u32;
override QK_NORM: bool = false;
override EPSILON: f32 = 0.0;
override LANES: u32 = 16;
override GROUP: u32 = 4;

@group(0) @binding(0) var<uniform> this_pass: Pass;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> qkv: array<f32>;
@group(0) @binding(3) var<storage, read> angles: array<vec2f>;
@group(0) @binding(4) var<storage, read> norms: array<f32>;
@group(0) @binding(5) var<storage, read_write> query: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> keys: array<CacheWord>;
@group(0) @binding(7) var<storage, read_write> values: array<CacheWord>;

var<workgroup> partial_sums: array<f32, LANES * GROUP>;

/// Element i of a head after norm and rotation. `start` is the head's place in qkv, `angle` the position's in angles.
fn rotated(i: u32, start: u32, angle: u32, norm: u32, scale: f32) -> f32 {
  let is_low = i < HEAD_DIM / 2u;
  let pair = select(i - HEAD_DIM / 2u, i + HEAD_DIM / 2u, is_low);
  var own = qkv[start + i] * scale;
  var other = qkv[start + pair] * scale;
  if (QK_NORM) {
    own *= norms[norm + i];
    other *= norms[norm + pair];
  }
  let turn = angles[angle + min(i, pair)];
  return own * turn.x + select(other, -other, is_low) * turn.y;
}

@compute @workgroup_size(LANES, GROUP)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let heads_of_row = HEADS + 2u * KV_HEADS;
  let index = workgroup_number(workgroup, workgroups) * GROUP + local.y;
  let is_inside = index / heads_of_row < this_pass.rows;
  // What lies past the end repeats the last row and writes nothing, so that barriers stay uniform.
  let row = min(index / heads_of_row, this_pass.rows - 1u);
  let head = index % heads_of_row;
  let start = row * QKV_PITCH + head * HEAD_DIM;
  let is_query = head < HEADS;
  let is_value = head >= HEADS + KV_HEADS;

  var scale = 1.0;
  if (QK_NORM) {
    var sum = 0.0;
    for (var i = local.x; i < HEAD_DIM + this_pass.zero; i += LANES) {
      let x = qkv[start + i];
      sum += x * x;
    }
    if (LANES > 1u) {
      partial_sums[local.y * LANES + local.x] = sum;
      workgroupBarrier();
      for (var half = LANES / 2u; half > 0u; half /= 2u) {
        if (local.x < half) {
          partial_sums[local.y * LANES + local.x] += partial_sums[local.y * LANES + local.x + half];
        }
        workgroupBarrier();
      }
      sum = partial_sums[local.y * LANES];
    }
    scale = inverseSqrt(sum / f32(HEAD_DIM) + EPSILON);
  }
  if (!is_inside) {
    return;
  }

  let words = (HEAD_DIM + 3u) / 4u;
  let angle = rows[row].position * (HEAD_DIM / 2u);
  let cache_position = rows[row].cache_start + rows[row].position;
  for (var word = local.x; word < words + this_pass.zero; word += LANES) {
    var out = vec4f();
    for (var j = 0u; j < 4u; j++) {
      let i = word * 4u + j;
      if (i < HEAD_DIM) {
        if (is_value) {
          out[j] = qkv[start + i];
        } else {
          out[j] = rotated(i, start, angle, select(HEAD_DIM, 0u, is_query), scale);
        }
      }
    }
    if (is_query) {
      query[(row * HEADS + head) * words + word] = out * inverseSqrt(f32(HEAD_DIM));
    } else if (is_value) {
      values[(cache_position * KV_HEADS + head - HEADS - KV_HEADS) * words + word] = pack_cache(out);
    } else {
      keys[(cache_position * KV_HEADS + head - HEADS) * words + word] = pack_cache(out);
    }
  }
}

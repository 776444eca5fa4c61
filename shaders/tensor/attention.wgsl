// output[r, h, :] = sum over keys j that row r sees of p[j] * value[j, h / G, :],
//   p = softmax over j of scale * query[r, h, :] . key[j, h / G, :],   G = HEADS / KV_HEADS
//
// and its gradients, which recompute p from the logarithm of each row's softmax sum (lse) instead of storing it:
//   backward_query:  delta = d_output . output;  d_score = p * (d_output . value - delta);  d_query = scale * d_score key
//   backward_key:    d_value = sum of p d_output;  d_key = scale * sum of d_score query, over the rows and the G query
//                    heads that see the key: no two invocations write to one place
// or += where it accumulates. Source: Dao et al. 2022 (FlashAttention), algorithms 1 and 4.
//
// query, output [R, HEADS, D], key, value [K, KV_HEADS, D], one head a row, each padded to HEAD_VEC4 vec4s with zeros;
// lse, delta [R, HEADS]. Row r sees keys query_keys[r].x to query_keys[r].y - 1; key j is seen by rows
// key_queries[j].x to key_queries[j].y - 1.
// An invocation holds one head of QUERIES rows (or of one key) in registers and runs over what it sees.
// Dispatch: ceil(HEADS * ceil(R / QUERIES) / LANES) workgroups, backward_key ceil(KV_HEADS * K / LANES), folded.
// Preludes: grid; definitions: HEAD_VEC4, QUERIES.
// Reference: src/reference/attention.ts

override LANES: u32 = 32;

struct Shape {
  query_rows: u32,
  key_rows: u32,
  heads: u32,
  kv_heads: u32,
  scale: f32,
  accumulates_query: u32,
  accumulates_key: u32,
  accumulates_value: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> query: array<vec4f>;
@group(0) @binding(2) var<storage, read> key: array<vec4f>;
@group(0) @binding(3) var<storage, read> value: array<vec4f>;

@group(0) @binding(4) var<storage, read> query_keys: array<vec2u>;
@group(0) @binding(5) var<storage, read_write> output: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> lse: array<f32>;

@group(0) @binding(5) var<storage, read> statistics: array<vec2f>;
@group(0) @binding(6) var<storage, read> d_output: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> d_query: array<vec4f>;

@group(0) @binding(4) var<storage, read> key_queries: array<vec2u>;
@group(0) @binding(7) var<storage, read_write> d_key: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> d_value: array<vec4f>;

const LOWEST = -3e38;

// Arrays in loops are given their zeros explicitly: without, one software device kept the values of the last iteration.

@compute @workgroup_size(LANES)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * LANES + local;
  let tiles = (shape.query_rows + QUERIES - 1u) / QUERIES;
  let head = index / tiles;
  if (head >= shape.heads) {
    return;
  }
  let row = index % tiles * QUERIES;
  let kv_head = head / (shape.heads / shape.kv_heads);
  let last = shape.query_rows - 1u;

  var own: array<array<vec4f, HEAD_VEC4>, QUERIES>;
  var sums: array<array<vec4f, HEAD_VEC4>, QUERIES>;
  var first: array<u32, QUERIES>;
  var end: array<u32, QUERIES>;
  var highest: array<f32, QUERIES>;
  var total: array<f32, QUERIES>;
  var first_key = 0xffffffffu;
  var end_key = 0u;
  for (var t = 0u; t < QUERIES; t++) {
    // Rows past the end repeat the last one and are not stored.
    let at = (min(row + t, last) * shape.heads + head) * HEAD_VEC4;
    for (var d = 0u; d < HEAD_VEC4; d++) {
      own[t][d] = query[at + d] * shape.scale;
    }
    let sees = query_keys[min(row + t, last)];
    first[t] = sees.x;
    end[t] = sees.y;
    highest[t] = LOWEST;
    first_key = min(first_key, sees.x);
    end_key = max(end_key, sees.y);
  }

  for (var j = first_key; j < end_key; j++) {
    let at = (j * shape.kv_heads + kv_head) * HEAD_VEC4;
    var scores = array<f32, QUERIES>();
    for (var d = 0u; d < HEAD_VEC4; d++) {
      let k = key[at + d];
      for (var t = 0u; t < QUERIES; t++) {
        scores[t] += dot(own[t][d], k);
      }
    }
    var weights = array<f32, QUERIES>();
    for (var t = 0u; t < QUERIES; t++) {
      let is_seen = j >= first[t] && j < end[t];
      if (is_seen && scores[t] > highest[t]) {
        let correction = exp(highest[t] - scores[t]);
        highest[t] = scores[t];
        total[t] *= correction;
        for (var d = 0u; d < HEAD_VEC4; d++) {
          sums[t][d] *= correction;
        }
      }
      weights[t] = select(0.0, exp(min(scores[t] - highest[t], 0.0)), is_seen);
      total[t] += weights[t];
    }
    for (var d = 0u; d < HEAD_VEC4; d++) {
      let v = value[at + d];
      for (var t = 0u; t < QUERIES; t++) {
        sums[t][d] += weights[t] * v;
      }
    }
  }
  for (var t = 0u; t < QUERIES; t++) {
    if (row + t < shape.query_rows) {
      let at = (row + t) * shape.heads + head;
      for (var d = 0u; d < HEAD_VEC4; d++) {
        output[at * HEAD_VEC4 + d] = sums[t][d] / total[t];
      }
      lse[at] = highest[t] + log(total[t]);
    }
  }
}

// The statistics of a row and head, lse and delta, are read together.
@group(0) @binding(1) var<storage, read> lse_read: array<f32>;
@group(0) @binding(2) var<storage, read> output_read: array<vec4f>;
@group(0) @binding(3) var<storage, read> d_output_read: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> statistics_written: array<vec2f>;

/// statistics = (lse, delta) for the two kernels below.
@compute @workgroup_size(LANES)
fn prepare(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * LANES + local;
  if (index >= shape.query_rows * shape.heads) {
    return;
  }
  var delta = 0.0;
  for (var d = 0u; d < HEAD_VEC4; d++) {
    delta += dot(output_read[index * HEAD_VEC4 + d], d_output_read[index * HEAD_VEC4 + d]);
  }
  statistics_written[index] = vec2f(lse_read[index], delta);
}

@compute @workgroup_size(LANES)
fn backward_query(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * LANES + local;
  let tiles = (shape.query_rows + QUERIES - 1u) / QUERIES;
  let head = index / tiles;
  if (head >= shape.heads) {
    return;
  }
  let row = index % tiles * QUERIES;
  let kv_head = head / (shape.heads / shape.kv_heads);
  let last = shape.query_rows - 1u;

  var own: array<array<vec4f, HEAD_VEC4>, QUERIES>;
  var d_own: array<array<vec4f, HEAD_VEC4>, QUERIES>;
  var sums: array<array<vec4f, HEAD_VEC4>, QUERIES>;
  var first: array<u32, QUERIES>;
  var end: array<u32, QUERIES>;
  var known: array<vec2f, QUERIES>;
  var first_key = 0xffffffffu;
  var end_key = 0u;
  for (var t = 0u; t < QUERIES; t++) {
    let at = min(row + t, last) * shape.heads + head;
    for (var d = 0u; d < HEAD_VEC4; d++) {
      own[t][d] = query[at * HEAD_VEC4 + d] * shape.scale;
      d_own[t][d] = d_output[at * HEAD_VEC4 + d];
    }
    known[t] = statistics[at];
    let sees = query_keys[min(row + t, last)];
    first[t] = sees.x;
    end[t] = sees.y;
    first_key = min(first_key, sees.x);
    end_key = max(end_key, sees.y);
  }

  for (var j = first_key; j < end_key; j++) {
    let at = (j * shape.kv_heads + kv_head) * HEAD_VEC4;
    var scores = array<f32, QUERIES>();
    var d_weights = array<f32, QUERIES>();
    for (var d = 0u; d < HEAD_VEC4; d++) {
      let k = key[at + d];
      let v = value[at + d];
      for (var t = 0u; t < QUERIES; t++) {
        scores[t] += dot(own[t][d], k);
        d_weights[t] += dot(d_own[t][d], v);
      }
    }
    for (var t = 0u; t < QUERIES; t++) {
      let is_seen = j >= first[t] && j < end[t];
      // The scores of keys that are not seen may exceed the row's largest.
      let weight = select(0.0, exp(min(scores[t] - known[t].x, 0.0)), is_seen);
      scores[t] = weight * (d_weights[t] - known[t].y) * shape.scale;
    }
    for (var d = 0u; d < HEAD_VEC4; d++) {
      let k = key[at + d];
      for (var t = 0u; t < QUERIES; t++) {
        sums[t][d] += scores[t] * k;
      }
    }
  }
  for (var t = 0u; t < QUERIES; t++) {
    if (row + t < shape.query_rows) {
      let at = ((row + t) * shape.heads + head) * HEAD_VEC4;
      for (var d = 0u; d < HEAD_VEC4; d++) {
        var gradient = sums[t][d];
        if (shape.accumulates_query != 0u) {
          gradient += d_query[at + d];
        }
        d_query[at + d] = gradient;
      }
    }
  }
}

@compute @workgroup_size(LANES)
fn backward_key(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let index = workgroup_number(workgroup, workgroups) * LANES + local;
  let kv_head = index / shape.key_rows;
  if (kv_head >= shape.kv_heads) {
    return;
  }
  let row = index % shape.key_rows;
  let own_at = (row * shape.kv_heads + kv_head) * HEAD_VEC4;
  let group = shape.heads / shape.kv_heads;

  var own_key: array<vec4f, HEAD_VEC4>;
  var own_value: array<vec4f, HEAD_VEC4>;
  var key_sums: array<vec4f, HEAD_VEC4>;
  var value_sums: array<vec4f, HEAD_VEC4>;
  for (var d = 0u; d < HEAD_VEC4; d++) {
    own_key[d] = key[own_at + d] * shape.scale;
    own_value[d] = value[own_at + d];
  }
  let seen_by = key_queries[row];
  for (var i = seen_by.x; i < seen_by.y; i++) {
    for (var g = 0u; g < group; g++) {
      let head = i * shape.heads + kv_head * group + g;
      let at = head * HEAD_VEC4;
      var score = 0.0;
      var d_weight = 0.0;
      for (var d = 0u; d < HEAD_VEC4; d++) {
        score += dot(query[at + d], own_key[d]);
        d_weight += dot(d_output[at + d], own_value[d]);
      }
      let known = statistics[head];
      let weight = exp(min(score - known.x, 0.0));
      let d_score = weight * (d_weight - known.y) * shape.scale;
      for (var d = 0u; d < HEAD_VEC4; d++) {
        key_sums[d] += d_score * query[at + d];
        value_sums[d] += weight * d_output[at + d];
      }
    }
  }
  for (var d = 0u; d < HEAD_VEC4; d++) {
    if (shape.accumulates_key != 0u) {
      key_sums[d] += d_key[own_at + d];
    }
    if (shape.accumulates_value != 0u) {
      value_sums[d] += d_value[own_at + d];
    }
    d_key[own_at + d] = key_sums[d];
    d_value[own_at + d] = value_sums[d];
  }
}

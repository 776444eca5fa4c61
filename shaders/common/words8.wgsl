// The vec4s of a head that one invocation holds: 8 of them. Named members, as some devices are slow at arrays.

const WORDS = 8u;

struct Words {
  w0: vec4f,
  w1: vec4f,
  w2: vec4f,
  w3: vec4f,
  w4: vec4f,
  w5: vec4f,
  w6: vec4f,
  w7: vec4f,
}

fn no_words() -> Words {
  return Words(vec4f(), vec4f(), vec4f(), vec4f(), vec4f(), vec4f(), vec4f(), vec4f());
}

/// The sum of the products of all elements.
fn dot_words(x: Words, y: Words) -> f32 {
  return dot(x.w0, y.w0) + dot(x.w1, y.w1) + dot(x.w2, y.w2) + dot(x.w3, y.w3) + dot(x.w4, y.w4) + dot(x.w5, y.w5) + dot(x.w6, y.w6) + dot(x.w7, y.w7);
}

/// sum * factor + weight * value
fn blend_words(sum: Words, factor: f32, weight: f32, value: Words) -> Words {
  return Words(
    sum.w0 * factor + weight * value.w0,
    sum.w1 * factor + weight * value.w1,
    sum.w2 * factor + weight * value.w2,
    sum.w3 * factor + weight * value.w3,
    sum.w4 * factor + weight * value.w4,
    sum.w5 * factor + weight * value.w5,
    sum.w6 * factor + weight * value.w6,
    sum.w7 * factor + weight * value.w7,
  );
}

/// An invocation's words of the head that begins at a place in `query`, `keys` or `values`; none beyond the head's end.
fn query_words(head: u32, lane: u32, head_vec4: u32) -> Words {
  return Words(
    query_word(head, 0 * SUBGROUP + lane, head_vec4),
    query_word(head, 1 * SUBGROUP + lane, head_vec4),
    query_word(head, 2 * SUBGROUP + lane, head_vec4),
    query_word(head, 3 * SUBGROUP + lane, head_vec4),
    query_word(head, 4 * SUBGROUP + lane, head_vec4),
    query_word(head, 5 * SUBGROUP + lane, head_vec4),
    query_word(head, 6 * SUBGROUP + lane, head_vec4),
    query_word(head, 7 * SUBGROUP + lane, head_vec4),
  );
}

fn key_words(head: u32, lane: u32, head_vec4: u32) -> Words {
  return Words(
    unpack_cache(keys[head + min(0 * SUBGROUP + lane, head_vec4 - 1u)]),
    unpack_cache(keys[head + min(1 * SUBGROUP + lane, head_vec4 - 1u)]),
    unpack_cache(keys[head + min(2 * SUBGROUP + lane, head_vec4 - 1u)]),
    unpack_cache(keys[head + min(3 * SUBGROUP + lane, head_vec4 - 1u)]),
    unpack_cache(keys[head + min(4 * SUBGROUP + lane, head_vec4 - 1u)]),
    unpack_cache(keys[head + min(5 * SUBGROUP + lane, head_vec4 - 1u)]),
    unpack_cache(keys[head + min(6 * SUBGROUP + lane, head_vec4 - 1u)]),
    unpack_cache(keys[head + min(7 * SUBGROUP + lane, head_vec4 - 1u)]),
  );
}

fn value_words(head: u32, lane: u32, head_vec4: u32) -> Words {
  return Words(
    unpack_cache(values[head + min(0 * SUBGROUP + lane, head_vec4 - 1u)]),
    unpack_cache(values[head + min(1 * SUBGROUP + lane, head_vec4 - 1u)]),
    unpack_cache(values[head + min(2 * SUBGROUP + lane, head_vec4 - 1u)]),
    unpack_cache(values[head + min(3 * SUBGROUP + lane, head_vec4 - 1u)]),
    unpack_cache(values[head + min(4 * SUBGROUP + lane, head_vec4 - 1u)]),
    unpack_cache(values[head + min(5 * SUBGROUP + lane, head_vec4 - 1u)]),
    unpack_cache(values[head + min(6 * SUBGROUP + lane, head_vec4 - 1u)]),
    unpack_cache(values[head + min(7 * SUBGROUP + lane, head_vec4 - 1u)]),
  );
}

/// Hands an invocation's words of a result to `results`, where the head begins at a place.
fn store_words(head: u32, lane: u32, total: f32, sum: Words) {
  results[head + 0 * SUBGROUP + lane] = sum.w0 / total;
  results[head + 1 * SUBGROUP + lane] = sum.w1 / total;
  results[head + 2 * SUBGROUP + lane] = sum.w2 / total;
  results[head + 3 * SUBGROUP + lane] = sum.w3 / total;
  results[head + 4 * SUBGROUP + lane] = sum.w4 / total;
  results[head + 5 * SUBGROUP + lane] = sum.w5 / total;
  results[head + 6 * SUBGROUP + lane] = sum.w6 / total;
  results[head + 7 * SUBGROUP + lane] = sum.w7 / total;
}

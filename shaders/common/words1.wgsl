// The vec4s of a head that one invocation holds: 1 of them. Named members, as some devices are slow at arrays.

const WORDS = 1u;

struct Words {
  w0: vec4f,
}

fn no_words() -> Words {
  return Words(vec4f());
}

/// The sum of the products of all elements.
fn dot_words(x: Words, y: Words) -> f32 {
  return dot(x.w0, y.w0);
}

/// sum * factor + weight * value
fn blend_words(sum: Words, factor: f32, weight: f32, value: Words) -> Words {
  return Words(
    sum.w0 * factor + weight * value.w0,
  );
}

/// An invocation's words of the head that begins at a place in `query`, `keys` or `values`; none beyond the head's end.
fn query_words(head: u32, lane: u32, head_vec4: u32) -> Words {
  return Words(
    query_word(head, 0 * SUBGROUP + lane, head_vec4),
  );
}

fn key_words(head: u32, lane: u32, head_vec4: u32) -> Words {
  return Words(
    unpack_cache(keys[head + min(0 * SUBGROUP + lane, head_vec4 - 1u)]),
  );
}

fn value_words(head: u32, lane: u32, head_vec4: u32) -> Words {
  return Words(
    unpack_cache(values[head + min(0 * SUBGROUP + lane, head_vec4 - 1u)]),
  );
}

/// Hands an invocation's words of a result to `results`, where the head begins at a place.
fn store_words(head: u32, lane: u32, total: f32, sum: Words) {
  results[head + 0 * SUBGROUP + lane] = sum.w0 / total;
}

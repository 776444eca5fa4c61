// Keys and values cached as f32: four of them in a vec4f.

alias CacheWord = vec4f;

fn pack_cache(values: vec4f) -> CacheWord {
  return values;
}

fn unpack_cache(word: CacheWord) -> vec4f {
  return word;
}

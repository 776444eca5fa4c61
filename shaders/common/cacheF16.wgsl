// Keys and values cached as f16: four of them in a vec2<u32>. Needs no shader-f16.

alias CacheWord = vec2<u32>;

// Beyond the largest f16 a conversion may give anything: such values are held at the edge.
const LARGEST_F16 = vec4f(65504.0);

fn pack_cache(values: vec4f) -> CacheWord {
  let held = clamp(values, -LARGEST_F16, LARGEST_F16);
  return vec2u(pack2x16float(held.xy), pack2x16float(held.zw));
}

fn unpack_cache(word: CacheWord) -> vec4f {
  return vec4f(unpack2x16float(word.x), unpack2x16float(word.y));
}

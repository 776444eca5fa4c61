// Weights stored as f16: four of them in a vec2<u32>, the first in the low half. Needs no shader-f16.

alias WeightWord = vec2<u32>;

fn unpack_weight(word: WeightWord) -> vec4f {
  return vec4f(unpack2x16float(word.x), unpack2x16float(word.y));
}

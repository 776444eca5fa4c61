// Weights stored as f16: four of them in a vec2<u32>, the first in the low half. Needs no shader-f16.

alias WeightWord = vec2<u32>;

/// Elements 4 * index to 4 * index + 3 of the matrix that the shader binds as `weight`.
fn weight_at(index: u32) -> vec4f {
  let word = weight[index];
  return vec4f(unpack2x16float(word.x), unpack2x16float(word.y));
}

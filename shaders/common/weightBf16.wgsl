// Weights stored as bf16, the upper half of an f32: four of them in a vec2<u32>, the first in the low half.

alias WeightWord = vec2<u32>;

/// Elements 4 * index to 4 * index + 3 of the matrix that the shader binds as `weight`.
fn weight_at(index: u32) -> vec4f {
  let word = weight[index];
  return bitcast<vec4f>(vec4u(word.x << 16u, word.x & 0xffff0000u, word.y << 16u, word.y & 0xffff0000u));
}

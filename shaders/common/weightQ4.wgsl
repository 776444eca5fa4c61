// Weights in 4 bits (src/checkpoint/quantize.ts): each group of 32 is a word with the scale and 4 words of eight codes,
// the first in the lowest bits. Rows are whole groups.

alias WeightWord = u32;

/// Elements 4 * index to 4 * index + 3 of the matrix that the shader binds as `weight`.
fn weight_at(index: u32) -> vec4f {
  let group = (index >> 3u) * 5u;
  let word = weight[group + 1u + ((index & 7u) >> 1u)] >> ((index & 1u) * 16u);
  let codes = (vec4u(word) >> vec4u(0u, 4u, 8u, 12u)) & vec4u(15u);
  return (vec4f(codes) - 8.0) * bitcast<f32>(weight[group]);
}

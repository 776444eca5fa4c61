// Weights in 8 bits (src/checkpoint/quantize.ts): each group of 32 is a word with the scale and 8 words of four codes,
// the first in the lowest byte. Rows are whole groups.

alias WeightWord = u32;

/// Elements 4 * index to 4 * index + 3 of the matrix that the shader binds as `weight`.
fn weight_at(index: u32) -> vec4f {
  let group = (index >> 3u) * 9u;
  let word = weight[group + 1u + (index & 7u)];
  let codes = (vec4u(word) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(255u);
  return (vec4f(codes) - 128.0) * bitcast<f32>(weight[group]);
}

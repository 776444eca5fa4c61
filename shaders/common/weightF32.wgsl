// Weights stored as f32: four of them in a vec4<u32>.

alias WeightWord = vec4<u32>;

/// Elements 4 * index to 4 * index + 3 of the matrix that the shader binds as `weight`.
fn weight_at(index: u32) -> vec4f {
  return bitcast<vec4f>(weight[index]);
}

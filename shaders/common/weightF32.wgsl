// Weights stored as f32: four of them in a vec4<u32>.

alias WeightWord = vec4<u32>;

fn unpack_weight(word: WeightWord) -> vec4f {
  return bitcast<vec4f>(word);
}

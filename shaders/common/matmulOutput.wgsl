// What a product does with its sums: bias, residual or SwiGLU, then the output. Shared by all products.

/// Sizes and kind of a product. Not `override`s: a model has many shapes, and compiling one shader for each takes long.
struct Product {
  /// Width of the input and of the weights, in vec4s.
  in4: u32,
  /// Outputs of a row.
  out: u32,
  /// Width of an output row and the first column's place in it, in vec2s.
  out_pitch2: u32,
  out_start2: u32,
  /// Sum of HAS_BIAS, ACCUMULATE, SWIGLU.
  kind: u32,
  /// Elements from one row's bias to the next one's: 0 where all rows have the same.
  bias_pitch: u32,
}

const HAS_BIAS = 1u;
const ACCUMULATE = 2u;
const SWIGLU = 4u;

@group(0) @binding(0) var<uniform> this_pass: Pass;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read_write> output: array<vec2f>;
@group(0) @binding(5) var<uniform> product: Product;

fn is_kind(kind: u32) -> bool {
  return (product.kind & kind) != 0u;
}

/// Products of four weight rows, two columns or (gate, gate, up, up) of one output row, to the output.
fn store(row: u32, column: u32, sums: vec4f) {
  if (row >= this_pass.rows) {
    return;
  }
  let at = row * product.out_pitch2 + product.out_start2 + column / 2u;
  if (is_kind(SWIGLU)) {
    if (column < product.out) {
      // exp must not overflow: below -80 silu is zero to f32 anyway.
      let gated = sums.xy / (1.0 + exp(-max(sums.xy, vec2f(-80.0)))) * sums.zw;
      output[at] = vec2f(gated.x, select(0.0, gated.y, column + 1u < product.out));
    }
    return;
  }
  for (var pair = 0u; pair < 2u; pair++) {
    let first = column + 2u * pair;
    if (first < product.out) {
      var values = select(sums.xy, sums.zw, pair == 1u);
      if (is_kind(HAS_BIAS)) {
        let own = row * product.bias_pitch;
        values += vec2f(bias[own + first], bias[own + min(first + 1u, product.out - 1u)]);
      }
      if (is_kind(ACCUMULATE)) {
        values += output[at + pair];
      }
      // The padding of an odd width stays zero.
      output[at + pair] = vec2f(values.x, select(0.0, values.y, first + 1u < product.out));
    }
  }
}

/**
 * Rotary position embedding (Su et al. 2021) in the half-split layout of transformers: element i of a head turns with
 * element i + headDim / 2, by the angle position * theta^(-2i / headDim).
 */

/**
 * @param x [T, heads, headDim]
 * @param positions T positions, counted from 0 in each sequence
 * @returns [T, heads, headDim]
 */
export function rope(
  x: Float64Array,
  positions: ArrayLike<number>,
  { heads, headDim, ropeTheta }: { heads: number; headDim: number; ropeTheta: number },
): Float64Array {
  const half = headDim / 2;
  const y = new Float64Array(x.length);
  for (let t = 0; t < positions.length; t++) {
    for (let head = 0; head < heads; head++) {
      const start = (t * heads + head) * headDim;
      for (let i = 0; i < half; i++) {
        const angle = positions[t]! * ropeTheta ** ((-2 * i) / headDim);
        const first = x[start + i]!;
        const second = x[start + i + half]!;
        y[start + i] = first * Math.cos(angle) - second * Math.sin(angle);
        y[start + i + half] = second * Math.cos(angle) + first * Math.sin(angle);
      }
    }
  }
  return y;
}

/** Gradient of `rope`: a rotation's is the rotation back. @param dY [T, heads, headDim] */
export function ropeBackward(
  dY: Float64Array,
  positions: ArrayLike<number>,
  shape: { heads: number; headDim: number; ropeTheta: number },
): Float64Array {
  return rope(
    dY,
    Array.from(positions, (position) => -position),
    shape,
  );
}

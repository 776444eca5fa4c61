/** x * F(x) with the normal distribution F, by the error function. Source: Hendrycks and Gimpel 2016. */

export function gelu(x: Float64Array): Float64Array {
  return x.map((value) => value * normalDistribution(value));
}

/** Gradient of `gelu`. @param dY of the same shape as x */
export function geluBackward(dY: Float64Array, x: Float64Array): Float64Array {
  return x.map((value, i) => {
    const density = Math.exp((-value * value) / 2) / Math.sqrt(2 * Math.PI);
    return dY[i]! * (normalDistribution(value) + value * density);
  });
}

/** The probability that a normal deviate is below x, to about 1e-15 of its size also far below 0. */
export function normalDistribution(x: number): number {
  return x < 0 ? erfc(-x / Math.SQRT2) / 2 : 1 - erfc(x / Math.SQRT2) / 2;
}

/** 1 - erf(z) for z of at least 0. */
function erfc(z: number): number {
  if (z < 2) {
    // erf(z) = 2 / sqrt(pi) * exp(-z^2) * sum of 2^n z^(2n+1) / (1 * 3 * ... * (2n+1)): all terms are positive.
    let term = z;
    let sum = z;
    for (let n = 1; n < 60; n++) {
      term *= (2 * z * z) / (2 * n + 1);
      sum += term;
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-z * z) * sum;
  }
  // The continued fraction of Laplace, from its far end: z + (1/2) / (z + 1 / (z + (3/2) / (z + ...))).
  let fraction = z;
  for (let n = 100; n > 0; n--) fraction = z + n / 2 / fraction;
  return Math.exp(-z * z) / Math.sqrt(Math.PI) / fraction;
}

// The project's random generator: a hash of (seed, stream, counter), bit for bit that of src/random/random.ts.
// Source: pcg3d of Jarzynski and Olano, "Hash Functions for GPU Rendering", JCGT 2020, then the 32-bit finalizer of
// MurmurHash3. u32 arithmetic wraps.

/// 32 random bits.
fn random_u32(seed: u32, stream: u32, counter: u32) -> u32 {
  var v = vec3u(seed, stream, counter) * 1664525u + 1013904223u;
  v.x += v.y * v.z;
  v.y += v.z * v.x;
  v.z += v.x * v.y;
  v ^= v >> vec3u(16u);
  var x = v.x + v.y * v.z;
  x = (x ^ (x >> 16u)) * 0x85ebca6bu;
  x = (x ^ (x >> 13u)) * 0xc2b2ae35u;
  return x ^ (x >> 16u);
}

/// A number in [0, 1) with 24 random bits: exact in f32, so that it equals randomUniform of src/random/random.ts.
fn random_uniform(seed: u32, stream: u32, counter: u32) -> f32 {
  return f32(random_u32(seed, stream, counter) >> 8u) / 16777216.0;
}

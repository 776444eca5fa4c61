// Dispatches of more than 65,535 workgroups are folded into two dimensions (src/gpu/encoder.ts); this unfolds them.

/// The number of a workgroup in a folded dispatch. May exceed the intended count in the last row of the grid.
fn workgroup_number(id: vec3u, count: vec3u) -> u32 {
  return id.y * count.x + id.x;
}

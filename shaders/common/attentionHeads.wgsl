// Heads of attention for devices whose subgroups have a fixed, small size (shaders/tensor/attentionSubgroup.wgsl and its
// gradients): every invocation holds vectors of its own head in registers, and a vector that all of them need is loaded by
// the subgroup together, a piece each, and handed around. Written out, as an array that is indexed at run time is in
// memory, which software devices read element by element.
// A shader that uses this defines vec4_of(source, at): a vec4 of one of the tensors that it reads.

/// Invocations in a subgroup, and in a workgroup: 4 or 8.
override SUBGROUP: u32;
/// Vec4s of a head, rounded up to a multiple of 4, at most 16.
override HEAD4: u32;

/// A head's vector, with zeros after its end.
alias Head = array<vec4f, 16>;
/// What an invocation has loaded of a vector: vec4s lane, lane + SUBGROUP, ...
alias Piece = array<vec4f, 4>;

const LOWEST = -3e38;

/// `head_vec4` are the head's vec4s, not known to the compiler: unrolled loads take software devices seconds to compile.
fn load_head(source: u32, at: u32, head_vec4: u32) -> Head {
  var x: Head;
  for (var d = 0u; d < head_vec4; d++) {
    x[d] = vec4_of(source, at + d);
  }
  return Head(
    x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11], x[12], x[13], x[14], x[15],
  );
}

/// This invocation's piece of a vector whose place is the same for all of the subgroup. What it holds after the vector's
/// end is some of its elements again, to be multiplied with zeros.
fn load_piece(source: u32, at: u32, lane: u32) -> Piece {
  let last = shape.head_vec4 - 1u;
  var piece: Piece;
  piece[0] = vec4_of(source, at + min(lane, last));
  if (HEAD4 > SUBGROUP) {
    piece[1] = vec4_of(source, at + min(lane + SUBGROUP, last));
  }
  if (HEAD4 > 2u * SUBGROUP) {
    piece[2] = vec4_of(source, at + min(lane + 2u * SUBGROUP, last));
    piece[3] = vec4_of(source, at + min(lane + 3u * SUBGROUP, last));
  }
  return piece;
}

/// The d-th vec4 of a vector of which the subgroup holds the pieces.
fn shared_vec4(piece: ptr<function, Piece>, d: u32) -> vec4f {
  return subgroupShuffle((*piece)[d / SUBGROUP], d % SUBGROUP);
}

fn dot_shared(head: ptr<function, Head>, piece: ptr<function, Piece>) -> f32 {
  var sum = 0.0;
  sum += dot((*head)[0], shared_vec4(piece, 0u));
  sum += dot((*head)[1], shared_vec4(piece, 1u));
  sum += dot((*head)[2], shared_vec4(piece, 2u));
  sum += dot((*head)[3], shared_vec4(piece, 3u));
  if (HEAD4 > 4u) {
    sum += dot((*head)[4], shared_vec4(piece, 4u));
    sum += dot((*head)[5], shared_vec4(piece, 5u));
    sum += dot((*head)[6], shared_vec4(piece, 6u));
    sum += dot((*head)[7], shared_vec4(piece, 7u));
  }
  if (HEAD4 > 8u) {
    sum += dot((*head)[8], shared_vec4(piece, 8u));
    sum += dot((*head)[9], shared_vec4(piece, 9u));
    sum += dot((*head)[10], shared_vec4(piece, 10u));
    sum += dot((*head)[11], shared_vec4(piece, 11u));
  }
  if (HEAD4 > 12u) {
    sum += dot((*head)[12], shared_vec4(piece, 12u));
    sum += dot((*head)[13], shared_vec4(piece, 13u));
    sum += dot((*head)[14], shared_vec4(piece, 14u));
    sum += dot((*head)[15], shared_vec4(piece, 15u));
  }
  return sum;
}

/// head += factor * the vector of the pieces
fn add_shared(head: ptr<function, Head>, factor: f32, piece: ptr<function, Piece>) {
  (*head)[0] += factor * shared_vec4(piece, 0u);
  (*head)[1] += factor * shared_vec4(piece, 1u);
  (*head)[2] += factor * shared_vec4(piece, 2u);
  (*head)[3] += factor * shared_vec4(piece, 3u);
  if (HEAD4 > 4u) {
    (*head)[4] += factor * shared_vec4(piece, 4u);
    (*head)[5] += factor * shared_vec4(piece, 5u);
    (*head)[6] += factor * shared_vec4(piece, 6u);
    (*head)[7] += factor * shared_vec4(piece, 7u);
  }
  if (HEAD4 > 8u) {
    (*head)[8] += factor * shared_vec4(piece, 8u);
    (*head)[9] += factor * shared_vec4(piece, 9u);
    (*head)[10] += factor * shared_vec4(piece, 10u);
    (*head)[11] += factor * shared_vec4(piece, 11u);
  }
  if (HEAD4 > 12u) {
    (*head)[12] += factor * shared_vec4(piece, 12u);
    (*head)[13] += factor * shared_vec4(piece, 13u);
    (*head)[14] += factor * shared_vec4(piece, 14u);
    (*head)[15] += factor * shared_vec4(piece, 15u);
  }
}

fn scale_head(head: ptr<function, Head>, factor: f32) {
  (*head)[0] *= factor;
  (*head)[1] *= factor;
  (*head)[2] *= factor;
  (*head)[3] *= factor;
  if (HEAD4 > 4u) {
    (*head)[4] *= factor;
    (*head)[5] *= factor;
    (*head)[6] *= factor;
    (*head)[7] *= factor;
  }
  if (HEAD4 > 8u) {
    (*head)[8] *= factor;
    (*head)[9] *= factor;
    (*head)[10] *= factor;
    (*head)[11] *= factor;
  }
  if (HEAD4 > 12u) {
    (*head)[12] *= factor;
    (*head)[13] *= factor;
    (*head)[14] *= factor;
    (*head)[15] *= factor;
  }
}

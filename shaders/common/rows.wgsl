// The rows of one pass: every token that is read or written, of whatever sequence, is one row of [R, C] buffers.

struct Pass {
  /// Rows in this pass.
  rows: u32,
  /// Groups of rows that attention treats together.
  tiles: u32,
  /// Zero, which a compiler cannot know. Added to a loop's bound it keeps the loop from being unrolled: software devices
  /// compile every load as a branch for each invocation, and take many seconds for what was unrolled.
  zero: u32,
}

struct Row {
  /// Where the row's sequence starts in the key/value cache, in positions.
  cache_start: u32,
  /// The row's own position in its sequence.
  position: u32,
  /// The sequence's number in the batch.
  sequence: u32,
  /// Tokens drawn for the sequence so far.
  drawn: u32,
}

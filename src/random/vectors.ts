/** Values of the generator, computed apart from both implementations (with Python's integers), for their tests. */
export const RANDOM_VECTORS: readonly { seed: number; stream: number; counter: number; bits: number }[] = [
  { seed: 0, stream: 0, counter: 0, bits: 875333653 },
  { seed: 0, stream: 0, counter: 1, bits: 495175623 },
  { seed: 0, stream: 1, counter: 0, bits: 3647757915 },
  { seed: 1, stream: 0, counter: 0, bits: 2986545764 },
  { seed: 1, stream: 2, counter: 3, bits: 588679063 },
  { seed: 4294967295, stream: 4294967295, counter: 4294967295, bits: 1670200690 },
  { seed: 2147483648, stream: 1, counter: 0, bits: 417188522 },
  { seed: 42, stream: 7, counter: 123456789, bits: 4257068695 },
  { seed: 2026, stream: 3, counter: 4294967295, bits: 3679595565 },
];

// The next token of each sequence, from its logits, in the order of transformers: repetition penalty, temperature,
// top-k, top-p, min-p, each on what the one before left over; then a draw.
//
//   z[i]   = penalized(logits[i]) / temperature,   w[i] = exp(z[i] - max z)
//   kept   = tokens whose z is at least a threshold: the k-th largest z; then the largest z at which the tokens above
//            hold top_p of what is left; then max z + ln(min_p). Equals of the last one kept stay too.
//   token  = the first id at which the running sum of kept w exceeds u * (all kept w), u = random_uniform(seed, 0, n)
//            for the n-th token drawn; the first largest z when temperature is 0.
//
// Thresholds are found by radix selection, 8 bits at a time, on z's bits in an order-preserving form. Weights are added
// as integers (24 bits each), so that sums do not depend on the order.
// logits [R, PITCH]; settings and seen by sequence; ids, rows, tokens by row. The drawn token goes to ids (the input of
// the next step) and to tokens[row, n % TOKENS]; the row moves on by one position. Logits that are not finite give
// the token NOT_FINITE.
// Dispatch: R workgroups, folded. Preludes: grid, rows, random.
// Reference: src/reference/sampling.ts

override VOCAB: u32;
override PITCH: u32;
/// Words of a sequence in seen: ceil(VOCAB / 32).
override SEEN_PITCH: u32;
/// Tokens of a row in tokens.
override TOKENS: u32;
/// A power of two, at most 256.
override LANES: u32 = 64;

struct Settings {
  temperature: f32,
  top_p: f32,
  min_p: f32,
  repetition_penalty: f32,
  top_k: u32,
  seed: u32,
}

@group(0) @binding(0) var<uniform> this_pass: Pass;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> settings: array<Settings>;
/// One bit for each token that a sequence has read or written.
@group(0) @binding(3) var<storage, read_write> seen: array<u32>;
@group(0) @binding(4) var<storage, read_write> ids: array<u32>;
@group(0) @binding(5) var<storage, read_write> rows: array<Row>;
@group(0) @binding(6) var<storage, read_write> tokens: array<u32>;

const NOT_FINITE = 0xffffffffu;
const LOWEST = -3e38;
/// Weights become integers of this many steps, split into two of 12 bits whose sums fit u32 for any vocabulary.
const WEIGHT_STEPS = 16777216.0;

var<workgroup> lane_values: array<f32, LANES>;
var<workgroup> lane_ids: array<u32, LANES>;
var<workgroup> counts: array<atomic<u32>, 256>;
var<workgroup> upper_weights: array<atomic<u32>, 256>;
var<workgroup> lower_weights: array<atomic<u32>, 256>;
var<workgroup> is_broken: atomic<u32>;
var<workgroup> shared_settings: Settings;
var<workgroup> shared_value: f32;
var<workgroup> shared_key: u32;

/// Where the sequence's logits and seen bits begin, and its settings.
var<private> logits_start: u32;
var<private> seen_start: u32;
var<private> own: Settings;

/// z[i] of the formula; for temperature 0 the penalized logit.
fn scaled(i: u32) -> f32 {
  var z = logits[logits_start + i];
  if (own.repetition_penalty != 1.0 && ((seen[seen_start + i / 32u] >> (i % 32u)) & 1u) == 1u) {
    z = select(z * own.repetition_penalty, z / own.repetition_penalty, z > 0.0);
  }
  return select(z, z / own.temperature, own.temperature > 0.0);
}

/// Bits of a value such that larger values have larger bits.
fn ordered(value: f32) -> u32 {
  // Adding zero makes -0 and 0 the same.
  let bits = bitcast<u32>(value + 0.0);
  return bits ^ select(0x80000000u, 0xffffffffu, bits >= 0x80000000u);
}

fn weight_of(z: f32, highest: f32) -> f32 {
  return exp(max(z - highest, -80.0));
}

fn clear_bins(lane: u32) {
  for (var bin = lane; bin < 256u + this_pass.zero; bin += LANES) {
    atomicStore(&counts[bin], 0u);
    atomicStore(&upper_weights[bin], 0u);
    atomicStore(&lower_weights[bin], 0u);
  }
  workgroupBarrier();
}

/// Whether a key lies in the radix selection's present range: its bits above `shift + 8` are those of `prefix`.
fn is_in_range(key: u32, prefix: u32, shift: u32) -> bool {
  return shift == 24u || ((key ^ prefix) >> (shift + 8u)) == 0u;
}

/// The k-th largest key.
fn select_count(lane: u32, k: u32) -> u32 {
  var prefix = 0u;
  var wanted = k;
  for (var step = 0u; step < 4u + this_pass.zero; step++) {
    let shift = 24u - 8u * step;
    clear_bins(lane);
    for (var i = lane; i < VOCAB + this_pass.zero; i += LANES) {
      let key = ordered(scaled(i));
      if (is_in_range(key, prefix, shift)) {
        atomicAdd(&counts[(key >> shift) & 255u], 1u);
      }
    }
    workgroupBarrier();
    if (lane == 0u) {
      var bin = 255u;
      var above = 0u;
      for (; bin > 0u; bin--) {
        let here = atomicLoad(&counts[bin]);
        if (above + here >= wanted) {
          break;
        }
        above += here;
      }
      shared_key = prefix | (bin << shift);
      lane_ids[0] = wanted - above;
    }
    workgroupBarrier();
    prefix = workgroupUniformLoad(&shared_key);
    wanted = workgroupUniformLoad(&lane_ids[0]);
  }
  return prefix;
}

/// The largest key such that keys from it up hold at least the share p of the weight of all keys from `lowest` up.
fn select_weight(lane: u32, p: f32, lowest: u32, highest: f32) -> u32 {
  var prefix = 0u;
  // The weight still to be found from the top of the present range, in steps.
  var wanted = 0.0;
  for (var step = 0u; step < 4u + this_pass.zero; step++) {
    let shift = 24u - 8u * step;
    clear_bins(lane);
    for (var i = lane; i < VOCAB + this_pass.zero; i += LANES) {
      let z = scaled(i);
      let key = ordered(z);
      if (key >= lowest && is_in_range(key, prefix, shift)) {
        let bin = (key >> shift) & 255u;
        let steps = u32(weight_of(z, highest) * WEIGHT_STEPS);
        atomicAdd(&counts[bin], 1u);
        atomicAdd(&upper_weights[bin], steps >> 12u);
        atomicAdd(&lower_weights[bin], steps & 4095u);
      }
    }
    workgroupBarrier();
    if (lane == 0u) {
      if (step == 0u) {
        for (var bin = 0u; bin < 256u; bin++) {
          wanted += bin_weight(bin);
        }
        wanted *= p;
      }
      // Only bins with keys are candidates: should rounding leave the sum short, the lowest of them is taken.
      var chosen = 0u;
      var above = 0.0;
      var here = 0.0;
      for (var bin = 256u; bin > 0u; bin--) {
        if (atomicLoad(&counts[bin - 1u]) > 0u) {
          chosen = bin - 1u;
          above += here;
          here = bin_weight(chosen);
          if (above + here >= wanted) {
            break;
          }
        }
      }
      shared_key = prefix | (chosen << shift);
      shared_value = wanted - above;
    }
    workgroupBarrier();
    prefix = workgroupUniformLoad(&shared_key);
    wanted = workgroupUniformLoad(&shared_value);
  }
  return prefix;
}

fn bin_weight(bin: u32) -> f32 {
  return f32(atomicLoad(&upper_weights[bin])) * 4096.0 + f32(atomicLoad(&lower_weights[bin]));
}

/// The largest z, of equals the one with the smallest id.
fn find_best(lane: u32) {
  var best = LOWEST;
  var best_id = 0u;
  for (var i = lane; i < VOCAB + this_pass.zero; i += LANES) {
    if ((bitcast<u32>(logits[logits_start + i]) & 0x7f800000u) == 0x7f800000u) {
      atomicStore(&is_broken, 1u);
    }
    let z = scaled(i);
    if (z > best) {
      best = z;
      best_id = i;
    }
  }
  lane_values[lane] = best;
  lane_ids[lane] = best_id;
  workgroupBarrier();
  for (var half = LANES / 2u; half > 0u; half /= 2u) {
    if (lane < half) {
      let other = lane_values[lane + half];
      let other_id = lane_ids[lane + half];
      if (other > lane_values[lane] || (other == lane_values[lane] && other_id < lane_ids[lane])) {
        lane_values[lane] = other;
        lane_ids[lane] = other_id;
      }
    }
    workgroupBarrier();
  }
}

/// The token at the share u of the kept weight; leaves it in shared_key. Each lane sums a run of neighbouring ids.
fn draw(lane: u32, u: f32, lowest: u32, highest: f32) {
  let run = (VOCAB + LANES - 1u) / LANES;
  let end = min((lane + 1u) * run, VOCAB);
  var sum = 0.0;
  for (var i = lane * run; i < end; i++) {
    let z = scaled(i);
    sum += select(0.0, weight_of(z, highest), ordered(z) >= lowest);
  }
  lane_values[lane] = sum;
  workgroupBarrier();
  if (lane == 0u) {
    var all = 0.0;
    for (var other = 0u; other < LANES + this_pass.zero; other++) {
      all += lane_values[other];
    }
    let wanted = u * all;
    // Should rounding leave no lane above the wanted, the last one with any weight is taken.
    var before = 0.0;
    var running = 0.0;
    var chosen = 0u;
    for (var other = 0u; other < LANES + this_pass.zero; other++) {
      if (lane_values[other] > 0.0) {
        chosen = other;
        before = running;
        running += lane_values[other];
        if (running > wanted) {
          break;
        }
      }
    }
    lane_ids[0] = chosen;
    lane_values[0] = before;
    shared_value = wanted;
  }
  workgroupBarrier();
  if (lane == lane_ids[0]) {
    var running = lane_values[0];
    for (var i = lane * run; i < end; i++) {
      let z = scaled(i);
      if (ordered(z) >= lowest) {
        shared_key = i;
        running += weight_of(z, highest);
        if (running > shared_value) {
          break;
        }
      }
    }
  }
  workgroupBarrier();
}

@compute @workgroup_size(LANES)
fn forward(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) workgroups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let row = workgroup_number(workgroup, workgroups);
  if (row >= this_pass.rows) {
    return;
  }
  let sequence = rows[row].sequence;
  let drawn = rows[row].drawn;
  if (lane == 0u) {
    shared_settings = settings[sequence];
  }
  own = workgroupUniformLoad(&shared_settings);
  let filters = workgroupUniformLoad(&shared_settings);
  logits_start = row * PITCH;
  seen_start = sequence * SEEN_PITCH;

  find_best(lane);
  let highest = workgroupUniformLoad(&lane_values[0]);
  var token = workgroupUniformLoad(&lane_ids[0]);

  if (filters.temperature > 0.0) {
    var lowest = 0u;
    if (filters.top_k > 0u && filters.top_k < VOCAB) {
      lowest = select_count(lane, filters.top_k);
    }
    if (filters.top_p < 1.0) {
      lowest = select_weight(lane, filters.top_p, lowest, highest);
    }
    if (filters.min_p > 0.0) {
      lowest = max(lowest, ordered(highest + log(filters.min_p)));
    }
    draw(lane, random_uniform(filters.seed, 0u, drawn), lowest, highest);
    token = shared_key;
  }

  if (lane == 0u) {
    seen[seen_start + token / 32u] |= 1u << (token % 32u);
    ids[row] = token;
    tokens[row * TOKENS + drawn % TOKENS] = select(token, NOT_FINITE, atomicLoad(&is_broken) == 1u);
    rows[row].position += 1u;
    rows[row].drawn = drawn + 1u;
  }
}

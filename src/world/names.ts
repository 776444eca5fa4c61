/**
 * Invented names. Two syllables out of about a hundred each give more than ten thousand words, a kind word or a first
 * name multiplies them, and every world draws its own: nothing about a name can be known before it is read.
 */
import type { Random } from "../random/random";

const ONSETS =
  "Bal Bel Bor Bran Bres Cal Cam Cor Cren Cul Dal Dar Del Dor Dran Dul Eb El Em Er Fal Fen Fir Fol Gal Gar Gel Gor " +
  "Gran Gul Hal Har Hel Hol Hul Il Im Ir Jal Jor Jun Kal Kar Kel Kor Kres Kul Lam Lar Len Lor Lun Mal Mar Mel Mor Mul " +
  "Nal Nar Nel Nor Nul Ol Or Os Pal Par Pel Por Pran Quel Quor Ral Ran Rel Ros Rul Sal Sar Sel Sor Stel Sul Tal Tar Tel " +
  "Tor Tran Tul Ul Ur Val Var Vel Vor Vul Wal Wen Wor Yal Yel Yor Zal Zel Zor";
const CODAS =
  "ba bek bin bor by da dan dek der din dor dra du fa fen fin for ga gan gar gen gin go gor ka kan ken kin ko kra la " +
  "lan lek len lin lo lor ma man mek men mir mo mon mur na nak nen nik nir no nor pa pek pen pin po ra rak ren rik rin " +
  "ro rum sa sek sen sin so sor sta su ta tan tek ten tin to tor tra tum va vek ven vik vin vo vor wa wen win wo za zan " +
  "zek zen zin zo zur";
const FIRST_NAMES =
  "Ada Alin Anka Aro Bela Bruno Cato Cira Dana Dario Edda Emil Esra Falk Fedor Gita Greta Hana Hugo Ida Ilja Ines Ivo " +
  "Jana Joris Kaja Karl Kira Lara Leif Lida Ludo Maja Marek Mila Nadia Nils Nora Odo Olga Otto Pavel Petra Rafa Rita " +
  "Rolf Runa Sana Sven Tara Tilo Toma Ugo Uma Vera Vito Wanda Willem Yara Yuri Zeno Zita";

const onsets = ONSETS.split(" ");
const codas = CODAS.split(" ");
const firstNames = FIRST_NAMES.split(" ");

/** A capitalised invented word of two syllables. */
export function inventWord(random: Random): string {
  return random.pick(onsets) + random.pick(codas);
}

/** A word that shares a syllable with `word`: a near-namesake. */
export function inventNearWord(random: Random, word: string): string {
  const onset = onsets.filter((o) => word.startsWith(o)).sort((a, b) => b.length - a.length)[0] ?? random.pick(onsets);
  return random.chance(0.5) ? onset + random.pick(codas) : random.pick(onsets) + word.slice(onset.length);
}

export function inventFirstName(random: Random): string {
  return random.pick(firstNames);
}

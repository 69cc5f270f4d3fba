/**
 * How many generated histories a property tries.
 */

/** `OPLUS_HISTORIES` when it is set, else `standard`: nightly runs set more, a quick look sets fewer. Throws when it is no count above 0. */
export function runsOf(standard: number = 5_000): number {
  const { OPLUS_HISTORIES: asked = '' } = process.env;
  if (asked === '') return standard;
  const runs = Number(asked);
  if (Number.isSafeInteger(runs) && runs > 0) return runs;
  throw new Error(`OPLUS_HISTORIES is ${asked}, not a count above 0`);
}

/**
 * How many generated histories a property tries.
 */

/** `OPLUS_HISTORIES` when it is set to a count above 0, else `standard`: nightly runs set more, a quick look sets fewer. */
export function runsOf(standard: number = 5_000): number {
  const asked = Number(process.env['OPLUS_HISTORIES'] ?? '');
  return Number.isSafeInteger(asked) && asked > 0 ? asked : standard;
}

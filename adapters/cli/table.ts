/**
 * Tables for people.
 *
 * @module
 */

/** Lines with columns that are as wide as their longest cell; the first row is the head. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  )
  return rows
    .map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)))
    .map((row) => row.join('  ').trimEnd())
    .join('\n')
}

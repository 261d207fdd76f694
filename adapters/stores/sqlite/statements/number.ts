/**
 * Writes numbers that SQLite computes as `JSON.stringify` would. A number has only one spelling, so strings, and the
 * values that SQLite reads from them, compare as the numbers do.
 *
 * @module
 */

const ZEROS = '0'.repeat(20)

/** The JSON of the REAL `value`: the fewest digits that give it back, in JavaScript's notation. */
export function numberString(value: string): string {
  const shortest = [15, 16].map((digits) => {
    const text = `printf('%!.${digits}g', number)`
    return `WHEN CAST(${text} AS REAL) = number THEN ${text}`
  })
  return `(
    SELECT sign || CASE
      WHEN exponent IS NULL THEN mantissa
      WHEN exponent BETWEEN 0 AND 20 THEN substr(replace(mantissa, '.', '') || '${ZEROS}', 1, exponent + 1)
      WHEN exponent BETWEEN -6 AND -1 THEN '0.' || substr('${ZEROS}', 1, -exponent - 1) || replace(mantissa, '.', '')
      ELSE mantissa || printf('e%+d', exponent)
    END
    FROM (
      SELECT
        CASE WHEN text LIKE '-%' THEN '-' ELSE '' END AS sign,
        rtrim(rtrim(ltrim(substr(text, 1, instr(text || 'e', 'e') - 1), '-'), '0'), '.') AS mantissa,
        CASE WHEN instr(text, 'e') > 0 THEN CAST(substr(text, instr(text, 'e') + 1) AS INTEGER) END AS exponent
      FROM (
        SELECT CASE ${shortest.join(' ')} ELSE printf('%!.17g', number) END AS text
        FROM (SELECT ${value} AS number)
      )
    )
  )`
}

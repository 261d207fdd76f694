/** Parsed JSON as a text again. */

/** JSON of a value that was parsed. A number that is too large for JavaScript, such as 1e400, stays one: `stringify` alone makes null of it. */
export function jsonOf(value: unknown): string {
  const text = JSON.stringify(value)
  // With a function it takes three times as long.
  return text.includes('null') ? JSON.stringify(value, asSent) : text
}

function asSent(_: string, value: unknown): unknown {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }
  if (value === Number.POSITIVE_INFINITY) return rawJSON('1e999')
  return value === Number.NEGATIVE_INFINITY ? rawJSON('-1e999') : value
}

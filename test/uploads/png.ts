/**
 * Forms with files, and the smallest PNG image.
 *
 * @module
 */

type Bytes = Uint8Array<ArrayBuffer>

/** The smallest PNG image. */
export const png: Bytes = Uint8Array.from(
  atob(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  ),
  (char) => char.charCodeAt(0),
)

/** A form: texts as they are, bytes as files; a list repeats the name. */
export function form(
  parts: Record<string, string | Bytes | readonly (string | Bytes)[]>,
): FormData {
  const data = new FormData()
  for (const [name, values] of Object.entries(parts)) {
    for (const value of Array.isArray(values) ? values : [values]) {
      if (typeof value === 'string') data.append(name, value)
      else data.append(name, new File([value], `${name}.png`, { type: 'image/png' }))
    }
  }
  return data
}

/** Comparing secrets. */

/** Whether two strings are equal. Takes the same time wherever they differ, so a secret cannot be guessed byte by byte. */
export function sameText(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let at = 0; at < b.length; at += 1) difference |= a.charCodeAt(at) ^ b.charCodeAt(at)
  return difference === 0
}

/**
 * Validation messages as responses carry them: a map from full path to message, of bounded size.
 *
 * @module
 */

/** The most messages in one response. */
export const MOST_MESSAGES = 100
/** UTF-16 units of a path or a message. Keys and enum values may be as long as a body. */
const LONGEST = 500

interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** The first message of each path, at most 100 of them. `prefix` goes before every path. */
export function messagesOf(issues: readonly Issue[], prefix?: string): Record<string, string> {
  const fields: Record<string, string> = Object.create(null)
  let count = 0
  for (const issue of issues) {
    const keys = prefix === undefined ? issue.path : [prefix, ...issue.path]
    const path = cut(keys.map(String).join('.'))
    if (path in fields) continue
    fields[path] = cut(issue.message)
    count += 1
    if (count === MOST_MESSAGES) break
  }
  return { ...fields }
}

/** The first 100 messages of `fields`. */
export function firstMessages(fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).slice(0, MOST_MESSAGES))
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}…`
}

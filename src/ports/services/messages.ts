/** Validation messages as responses carry them: a map from full path to message, of bounded size. */

/** The most messages in one response. */
export const MAX_MESSAGES = 100
/** The most UTF-16 units of a message, which may list the values of an enumeration. */
const MAX_MESSAGE_LENGTH = 500
/** The most of what a client has sent: keys may be as long as a body. */
const MAX_ECHO_LENGTH = 200

interface Issue {
  readonly code?: string | undefined
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** The first message of each path, at most 100 of them. `prefix` goes before every path. */
export function messagesOf(issues: Iterable<Issue>, prefix?: string): Record<string, string> {
  const fields: Record<string, string> = Object.create(null)
  let count = 0
  for (const issue of issues) {
    const keys = prefix === undefined ? issue.path : [prefix, ...issue.path]
    const path = echoed(keys.map(String).join('.'))
    if (path in fields) continue
    // This message names the client's keys.
    fields[path] =
      issue.code === 'unrecognized_keys'
        ? echoed(issue.message)
        : cut(issue.message, MAX_MESSAGE_LENGTH)
    count += 1
    if (count === MAX_MESSAGES) break
  }
  return { ...fields }
}

/** The first 100 messages of `fields`. */
export function firstMessages(fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).slice(0, MAX_MESSAGES))
}

/** What a client has sent, as an error repeats it: an error must not be as long as the request. */
export function echoed(text: string): string {
  return cut(text, MAX_ECHO_LENGTH)
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`
}

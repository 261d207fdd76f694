/** Errors with their causes, for logs and messages. */

const MAX_CAUSES = 5

/** A driver may describe its whole view of a cluster. */
const MAX_TEXT = 300

/** An error, its cause, and so on. That of a host with several addresses has only a list of errors, one for each. */
export function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = []
  for (let at = error; at instanceof Error && causes.length < MAX_CAUSES; ) {
    causes.push(at)
    at = at.cause ?? (at as Partial<AggregateError>).errors?.[0]
  }
  return causes
}

/** An error's message and those of its causes that it does not have itself, on one line without stacks. */
export function causeText(error: unknown): string {
  const text = causesOf(error).reduce((told, { message }) => {
    if (told.includes(message)) return told
    return told === '' ? message : `${told}: ${message}`
  }, '')
  return text.replace(/\s+/g, ' ').slice(0, MAX_TEXT)
}

/** What was thrown, for a log: an error with its stack, and those of its causes. */
export function stackText(thrown: unknown): string {
  const stacks = () => causesOf(thrown).map(({ stack, message }) => stack ?? message)
  return textOf(() => stacks().join('\ncaused by: ') || thrown)
}

/** What was thrown, on a line and never empty: the messages of an error and its causes. */
export function messageText(thrown: unknown): string {
  return textOf(() => causeText(thrown) || (thrown as Error)?.message || thrown)
}

/** The text of what was thrown: to tell of it must not fail, and some things have none. */
export function textOf(read: () => unknown): string {
  try {
    return String(read()) || NO_TEXT
  } catch {
    return NO_TEXT
  }
}

const NO_TEXT = 'something without a text'

const MAX_KEPT_TEXT = 500

/** The message of what was thrown, to be kept in a record. */
export function keptText(thrown: unknown): string {
  return messageText(thrown).slice(0, MAX_KEPT_TEXT)
}

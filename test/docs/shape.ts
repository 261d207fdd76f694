/**
 * Compares what a command printed with what a page shows.
 *
 * @module
 */

/** Every JSON value of a text: one alone, or several one after the other. */
export function jsonValues(text: string): unknown[] {
  const values: unknown[] = []
  let rest = ''
  for (const line of text.split('\n')) {
    rest += `${line}\n`
    try {
      values.push(JSON.parse(rest))
      rest = ''
    } catch {
      // The value goes on.
    }
  }
  if (rest.trim() !== '') JSON.parse(rest)
  return values
}

/** The JSON values among the lines of an output, which may also hold headers (`curl -i`). */
export function jsonIn(output: string): unknown[] {
  const pieces = output.replace(/\}\s*(?=\{)/g, '}\n').split('\n')
  const start = pieces.findIndex((line) => /^\s*[[{"\d]|^(?:true|false|null)$/.test(line))
  return start < 0 ? [] : jsonValues(pieces.slice(start).join('\n').trim())
}

/** What is known of the commands before. */
export interface Told {
  /** Gets the ids, cursors and tokens of the page, and those that stand for them here. */
  readonly seen: Map<string, string>
  readonly mayBeEmpty: boolean
}

/**
 * What differs, as a path and words; undefined where nothing does. Keys, kinds of values, `success`, `error` and
 * `message` must be equal; ids, dates, numbers and tokens may differ.
 */
export function differenceOf(
  expected: unknown,
  actual: unknown,
  told: Told,
  path = '',
): string | undefined {
  const different = () =>
    `${path || 'the value'} is ${JSON.stringify(actual)?.slice(0, 300)}, the page has ${JSON.stringify(expected).slice(0, 300)}`
  if (kindOf(expected) !== kindOf(actual)) return different()
  if (Array.isArray(expected)) return listDifference(expected, actual as unknown[], told, path)
  if (isObject(expected)) return objectDifference(expected, actual as JsonObject, told, path)
  if (/^(?:error|message|success)$/.test(path)) return expected === actual ? undefined : different()
  // Ids, cursors and tokens, in full or cut with an ellipsis.
  if (/^[\w.~+/=-]{8,}…?$/.test(String(expected))) told.seen.set(String(expected), String(actual))
  return undefined
}

type JsonObject = Record<string, unknown>

function listDifference(
  expected: readonly unknown[],
  actual: readonly unknown[],
  told: Told,
  path: string,
): string | undefined {
  if (expected.length > 0 && actual.length === 0) {
    return told.mayBeEmpty ? undefined : `${path || 'the list'} is empty`
  }
  return first(expected, (one, index) =>
    differenceOf(one, actual[Math.min(index, actual.length - 1)], told, `${path}[${index}]`),
  )
}

function objectDifference(
  expected: JsonObject,
  actual: JsonObject,
  told: Told,
  path: string,
): string | undefined {
  const names = (object: object) =>
    Object.keys(object)
      .filter((name) => name !== 'requestId')
      .toSorted()
  if (names(expected).join() !== names(actual).join()) {
    return `${path || 'the object'} has ${names(actual)}, the page has ${names(expected)}`
  }
  return first(names(expected), (name) =>
    differenceOf(expected[name], actual[name], told, path ? `${path}.${name}` : name),
  )
}

function first<T>(
  items: readonly T[],
  differs: (item: T, index: number) => string | undefined,
): string | undefined {
  return items.map(differs).find((difference) => difference !== undefined)
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'list' : typeof value
}

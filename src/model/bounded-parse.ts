/**
 * Parsing with zod in bounded time: a large value is parsed in slices, and a list is not searched for mistakes beyond
 * the hundredth. zod itself looks at everything at once, and passes the issues of a list on as arguments on the stack.
 *
 * A schema is prepared once, when it meets its first large value. A prepared schema still parses as zod does unless the
 * context asks for slices, so small values and your own calls see no difference.
 *
 * @module
 */

import {
  type $ZodIssue,
  type $ZodRawIssue,
  type $ZodType,
  type ParseContext,
  type ParseContextInternal,
  type ParsePayload,
  safeParse,
  safeParseAsync,
} from 'zod/v4/core'
import { MOST_MESSAGES } from '../ports/messages.ts'
import { isLarge, LARGE, Slices, sizeUpTo } from '../ports/slices.ts'
import { isAsync } from './async-refinements.ts'
import { partsIn } from './parts.ts'

const WORK = Symbol('bounded parsing')

/** One large value on its way through its schema. */
interface Work {
  readonly large: number
  readonly slices: Slices
  /** How values that are not large are parsed: as zod does, and without promises if nothing is asynchronous. */
  readonly sync: Context
  readonly plain: Context
}

type Context = ParseContextInternal<$ZodIssue> & { readonly [WORK]?: Work | undefined }
type Result = ParsePayload | Promise<ParsePayload>
type Parse = (payload: ParsePayload, context: Context) => Result

/**
 * The result of parsing `value` with `schema`, or its issues: all of them if they are few, else about the first
 * hundred. Values containing `large` values or more are parsed in slices.
 */
export async function boundedParse(
  schema: $ZodType,
  value: unknown,
  context: ParseContext<$ZodIssue>,
  large: number = LARGE,
): ReturnType<typeof safeParseAsync> {
  if (!isLarge(value, large)) {
    // A schema that may be asynchronous is not tried synchronously first: its refinements would run twice.
    return isAsync(schema)
      ? safeParseAsync(schema, value, context)
      : safeParse(schema, value, context)
  }
  for (const part of partsIn(schema).parts) prepare(part.schema)
  const work: Work = {
    large,
    slices: new Slices(),
    sync: { ...context, async: false },
    plain: { ...context, async: true },
  }
  // The value before may have used up the slice.
  await work.slices.next()
  return safeParseAsync(schema, value, { ...context, [WORK]: work } as Context)
}

const prepared = new WeakSet<$ZodType>()

function prepare(schema: $ZodType): void {
  if (prepared.has(schema)) return
  prepared.add(schema)
  const internals = schema._zod
  const { parse, run } = internals as unknown as { parse: Parse; run: Parse }
  const parseLarge = largeParserOf(schema, parse)
  if (parseLarge) {
    internals.parse = (payload, context: Context) => {
      const work = context[WORK]
      if (!work || !isLarge(payload.value, work.large)) return parse(payload, context)
      return parseLarge(payload, context, work)
    }
  }
  // A schema without checks has one function for both.
  const whole: Parse = run === parse ? (payload, context) => internals.parse(payload, context) : run
  internals.run = (payload, context: Context) => {
    const work = context[WORK]
    if (!work) return whole(payload, context)
    if (!isLarge(payload.value, work.large)) {
      return whole(payload, isAsync(schema) ? work.plain : work.sync)
    }
    const result = whole(payload, context)
    return result instanceof Promise ? result.then(withFewIssues) : withFewIssues(result)
  }
}

/** How a large value of `schema` is parsed, or undefined if zod's own `parse` has no long loops. */
function largeParserOf(
  schema: $ZodType,
  parse: Parse,
): ((payload: ParsePayload, context: Context, work: Work) => Result) | undefined {
  const options = optionsOf(schema)
  if (options) return (payload, context) => parseUnion(options, payload, context, parse)
  const list = listOf(schema)
  if (list) {
    return (payload, context, work) =>
      isLong(payload.value, list, work)
        ? parseList(schema, list, payload, context, work, parse)
        : parse(payload, context)
  }
  if (!isOpenRecord(schema)) return undefined
  return (payload, context, work) =>
    isPlain(payload.value as object)
      ? parseRecord(payload, context, work, parse)
      : parse(payload, context)
}

/** A list of any length: all elements from `start` on have the same schema. */
interface List {
  readonly start: number
  readonly element: $ZodType
}

function listOf(schema: $ZodType): List | undefined {
  const def = schema._zod.def as {
    type: string
    element?: $ZodType
    items?: readonly $ZodType[]
    rest?: $ZodType | null
  }
  if (def.type === 'array' && def.element) return { start: 0, element: def.element }
  return def.type === 'tuple' && def.items && def.rest
    ? { start: def.items.length, element: def.rest }
    : undefined
}

function isLong(value: unknown, { start }: List, { large }: Work): boolean {
  // zod 4.6 mixes up the positions of the rest of a tuple if its first elements are asynchronous.
  return Array.isArray(value) && value.length >= (start > 0 ? start + 1 : large)
}

/** Whether `schema` is a record with arbitrary keys: each is parsed on its own. */
function isOpenRecord(schema: $ZodType): boolean {
  const def = schema._zod.def as { type: string; keyType?: $ZodType }
  return def.type === 'record' && def.keyType?._zod.values === undefined
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** The options of a union in which the first that fits wins. */
function optionsOf(schema: $ZodType): readonly $ZodType[] | undefined {
  const { type, options, discriminator, inclusive } = schema._zod.def as {
    type: string
    options?: readonly $ZodType[]
    discriminator?: unknown
    inclusive?: unknown
  }
  const isPlainUnion = type === 'union' && discriminator === undefined && inclusive !== false
  return isPlainUnion && options && options.length > 1 ? options : undefined
}

/**
 * The first option that fits, tried one after the other: zod prefers a synchronous option to an asynchronous one. If
 * none fits, zod itself writes the issue.
 */
async function parseUnion(
  options: readonly $ZodType[],
  payload: ParsePayload,
  context: Context,
  parse: Parse,
): Promise<ParsePayload> {
  for (const option of options) {
    const result = await option._zod.run({ value: payload.value, issues: [] }, context)
    if (result.issues.length === 0) return result
  }
  return parse(payload, context)
}

/** Members of a record parsed at once. */
const MEMBERS_AT_ONCE = 200

/** Parses a record as zod does, but in slices. Keeps all its issues, see `withFewIssues`. */
async function parseRecord(
  payload: ParsePayload,
  context: Context,
  { slices, large }: Work,
  parse: Parse,
): Promise<ParsePayload> {
  const members = Object.entries(payload.value as object)
  const values: [string, unknown][] = []
  const step = Math.min(large, MEMBERS_AT_ONCE)
  for (let at = 0; at < members.length; at += step) {
    const some = Object.fromEntries(members.slice(at, at + step))
    const part = await parse({ value: some, issues: [] }, context)
    for (const issue of part.issues) payload.issues.push(issue)
    values.push(...Object.entries(part.value as object))
    if (slices.isOver(step)) await slices.next()
  }
  payload.value = Object.fromEntries(values)
  return payload
}

/** How many asynchronous elements run at once. */
const AT_ONCE = 16

/** Parses a list as zod does, but in slices, and only until there are enough issues. */
async function parseList(
  schema: $ZodType,
  { start, element }: List,
  payload: ParsePayload,
  context: Context,
  { slices, large }: Work,
  parse: Parse,
): Promise<ParsePayload> {
  const input = payload.value as readonly unknown[]
  if (isOverCap(schema, payload, input.length)) return payload
  const values = start > 0 ? await parseHead(input.slice(0, start), payload, context, parse) : []
  payload.value = values
  const enough = payload.issues.length + MOST_MESSAGES
  for (let at = start; at < input.length; at += AT_ONCE) {
    const results: Result[] = []
    for (const value of input.slice(at, at + AT_ONCE)) {
      results.push(element._zod.run({ value, issues: [] }, context))
      if (slices.isOver(sizeUpTo(value, large))) await slices.next()
    }
    const waits = results.some((result) => result instanceof Promise)
    const parsed = waits ? await Promise.all(results) : (results as ParsePayload[])
    collect(payload.issues, values, parsed, at)
    if (payload.issues.length < enough) continue
    // The rest was not checked: nothing may run on the list as if it had been.
    abort(payload.issues)
    return payload
  }
  return payload
}

/** The parsed elements that have their own schemas (the first ones of a tuple). */
async function parseHead(
  elements: readonly unknown[],
  payload: ParsePayload,
  context: Context,
  parse: Parse,
): Promise<unknown[]> {
  const head = await parse({ value: elements, issues: [] }, context)
  payload.issues.push(...head.issues)
  return head.value as unknown[]
}

/** Adds the parsed elements from position `at` on. */
function collect(
  issues: $ZodRawIssue[],
  values: unknown[],
  parsed: readonly ParsePayload[],
  at: number,
): void {
  for (const [index, result] of parsed.entries()) {
    for (const issue of result.issues) issues.push(under(at + index, issue))
    values.push(result.value)
  }
}

function under(index: number, issue: $ZodRawIssue): $ZodRawIssue {
  return Object.assign(issue, { path: [index, ...(issue.path ?? [])] })
}

function abort(issues: readonly $ZodRawIssue[]): void {
  const last = issues.at(-1)
  if (last) Object.assign(last, { continue: false })
}

/** Whether the list is longer than its schema's first checks allow. Then, as in zod, no element is looked at. */
function isOverCap(schema: $ZodType, payload: ParsePayload, length: number): boolean {
  for (const { _zod } of schema._zod.def.checks ?? []) {
    const {
      check,
      maximum,
      length: exact,
    } = _zod.def as unknown as Readonly<Record<string, unknown>>
    if (check !== 'max_length' && check !== 'min_length' && check !== 'length_equals') return false
    const most = maximum ?? exact
    if (typeof most !== 'number' || length <= most) continue
    _zod.check(payload as never)
    for (const issue of payload.issues) Object.assign(issue, { schema })
    abort(payload.issues)
    return true
  }
  return false
}

/**
 * The payload with the first hundred of its issues. Issues about keys stay, because an intersection drops those that
 * its other side knows.
 */
function withFewIssues(payload: ParsePayload): ParsePayload {
  const { issues } = payload
  if (issues.length <= MOST_MESSAGES) return payload
  let count = 0
  const kept = issues.filter((issue) => {
    if (issue.code === 'invalid_key' || issue.code === 'unrecognized_keys') return true
    count += 1
    return count <= MOST_MESSAGES
  })
  if (kept.length < issues.length) {
    abort(kept.filter(({ code }) => code !== 'invalid_key' && code !== 'unrecognized_keys'))
  }
  payload.issues = kept
  return payload
}

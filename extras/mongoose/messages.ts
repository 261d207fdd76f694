/** The messages of rules: those that a schema gives, instead of zod's. */

import type { ZodMiniType } from 'zod/mini'
import type { $ZodRawIssue } from 'zod/v4/core'
import type { SchemaType } from './structure.ts'

/** Makes the message of an issue; undefined leaves it to zod. */
type MessageOf = (issue: Pick<$ZodRawIssue, 'input'>) => string | undefined

type ErrorMap = (issue: $ZodRawIssue) => ReturnType<MessageOf> | { message: string } | null

/** The rules that Mongoose has messages of, each with the names of its option. */
const OPTIONS = {
  required: ['required'],
  min: ['min'],
  max: ['max'],
  minlength: ['minlength', 'minLength'],
  maxlength: ['maxlength', 'maxLength'],
  match: ['match'],
  enum: ['enum'],
} as const

type Rule = keyof typeof OPTIONS

/** The message of a rule of `type` at `path`, as zod takes it; no member if the schema gives none. */
export function messageOf(
  { options }: SchemaType,
  rule: Rule,
  path: string,
): { error?: MessageOf } {
  const option = OPTIONS[rule].map((name) => options[name]).find((one) => one !== undefined)
  const [limit, message] =
    Array.isArray(option) && rule !== 'enum' ? option : [option, ownMessage(option, rule)]
  const about = { path, type: rule, [rule]: limit }
  if (typeof message === 'function') {
    return { error: ({ input }) => String(message({ ...about, value: input })) }
  }
  return typeof message === 'string' ? { error: ({ input }) => filled(message, about, input) } : {}
}

function ownMessage(option: unknown, rule: Rule): unknown {
  if (rule === 'required' && typeof option === 'string') return option
  const isObject = typeof option === 'object' && option !== null
  return isObject && 'message' in option ? option.message : undefined
}

/** `message` with the names in braces that Mongoose fills in. */
function filled(message: string, about: Readonly<Record<string, unknown>>, value: unknown): string {
  const length = typeof value === 'string' ? value.length : undefined
  const known: Readonly<Record<string, unknown>> = { ...about, value, length }
  return message.replace(/\{([A-Z]+)\}/g, (whole, name: string) => {
    const found = known[name.toLowerCase()]
    return found === undefined ? whole : String(found)
  })
}

/** `schema`, with the message of `required` where no value is given. */
export function demanding<S extends ZodMiniType>(schema: S, type: SchemaType, path: string): S {
  const { error } = messageOf(type, 'required', path)
  if (!error) return schema
  const def = schema._zod.def as unknown as { error?: ErrorMap; readonly in?: ZodMiniType }
  const before = def.error
  // The empty string is no value to Mongoose.
  const isNone = (input: unknown) => input === undefined || input === null || input === ''
  def.error = (issue) => (isNone(issue.input) ? error(issue) : before?.(issue))
  if (def.in) demanding(def.in, type, path)
  return schema
}

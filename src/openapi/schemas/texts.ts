/** What zod's JSON Schemas lack, or say too much, of texts. */

import type { $ZodStringDef, $ZodStringFormatDef, $ZodType } from 'zod/v4/core'

/** A JSON Schema that is being made. */
export interface Editable {
  anyOf?: readonly Editable[]
  oneOf?: readonly Editable[]
  allOf?: readonly Editable[]
  properties?: Record<string, Editable>
  required?: string[]
  [keyword: string]: unknown
}

/** Formats of zod that are checks of text: their patterns say what they mean. */
const CHECKS = ['regex', 'lowercase', 'uppercase', 'includes', 'starts_with', 'ends_with']
/** Formats that a string keeps beside checks, as a JSON Schema calls them. */
const KEPT: Readonly<Record<string, string>> = {
  email: 'email',
  url: 'uri',
  uuid: 'uuid',
  guid: 'uuid',
  date: 'date',
}

type StringCheck = Partial<Pick<$ZodStringFormatDef, 'format' | 'pattern'>>

/** Says of a string what zod does not, or says too much. */
export function sayString(def: $ZodStringDef, json: Editable): void {
  const checks = [
    def as StringCheck,
    ...(def.checks ?? []).map(({ _zod }) => _zod.def as StringCheck),
  ]
  dropPatterns(checks, json)
  if (CHECKS.includes(String(json.format ?? 'regex'))) keepFormat(checks, json)
}

/** Drops patterns that a JSON Schema cannot say: it has no flags, and is read as Unicode. */
function dropPatterns(checks: readonly StringCheck[], json: Editable): void {
  for (const { pattern } of checks) {
    if (!pattern || isPlain(pattern)) continue
    if (json.pattern === pattern.source) delete json.pattern
    if (json.allOf) json.allOf = json.allOf.filter((one) => one.pattern !== pattern.source)
  }
  if (json.allOf?.length === 0) delete json.allOf
}

/** Drops the name of a check, for which zod drops the format before it. */
function keepFormat(checks: readonly StringCheck[], json: Editable): void {
  delete json.format
  const [format] = checks.flatMap(({ format = '' }) => KEPT[format] ?? [])
  if (format) json.format = format
}

function isPlain({ flags, source }: RegExp): boolean {
  try {
    RegExp(source, 'u')
    return !/[imsvy]/.test(flags)
  } catch {
    return false
  }
}

/** Says which words stand for true and false. */
export function sayWords({ _zod: { bag } }: $ZodType, json: Editable): void {
  const { truthy, falsy } = bag
  if (!Array.isArray(truthy) || !Array.isArray(falsy)) return
  const words = [...truthy, ...falsy]
  if (bag.case === 'sensitive') json.enum = words
  else json.description ??= `One of these words, in upper or lower case: ${words.join(', ')}.`
}

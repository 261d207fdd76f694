/** What zod's JSON Schemas lack, or say too much, of texts. */

import type { $ZodStringDef, $ZodType } from 'zod/v4/core'

/** A JSON Schema that is being made. */
export interface Editable {
  anyOf?: readonly Editable[]
  oneOf?: readonly Editable[]
  allOf?: readonly Editable[]
  properties?: Record<string, Editable>
  required?: string[]
  [keyword: string]: unknown
}

/** Drops patterns of regular expressions whose flags make them match otherwise: a JSON Schema has no flags. */
export function dropFlagged(def: $ZodStringDef, json: Editable): void {
  const checks = [def, ...(def.checks ?? []).map(({ _zod }) => _zod.def)]
  for (const { pattern } of checks as { readonly pattern?: RegExp }[]) {
    if (!pattern || !/[ims]/.test(pattern.flags)) continue
    if (json.pattern === pattern.source) delete json.pattern
    if (json.allOf) json.allOf = json.allOf.filter((one) => one.pattern !== pattern.source)
  }
  if (json.allOf?.length === 0) delete json.allOf
}

/** Says which words stand for true and false. */
export function sayWords({ _zod: { bag } }: $ZodType, json: Editable): void {
  const { truthy, falsy } = bag
  if (!Array.isArray(truthy) || !Array.isArray(falsy)) return
  const words = [...truthy, ...falsy]
  if (bag.case === 'sensitive') json.enum = words
  else json.description ??= `One of these words, in upper or lower case: ${words.join(', ')}.`
}

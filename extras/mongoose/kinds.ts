/**
 * Discriminators: the kinds of documents that share a collection or a list. A model has the members of all of them, each
 * optional, and a rule demands what the kind of a document demands.
 */

import { nullish, enum as oneOf, type ZodMiniType } from 'zod/mini'
import type { ParsePayload } from 'zod/v4/core'
import { valueIn } from '../../src/model/model.ts'
import type { Report } from './report.ts'
import { kindsOf, type SchemaParts, type SchemaType } from './structure.ts'
import { isDemanded } from './values.ts'

/** The member that tells the kinds apart. */
export function kindKeyOf({ options, discriminatorMapping }: SchemaParts): string {
  return discriminatorMapping?.key ?? String(options.discriminatorKey ?? '__t')
}

/** The schema of the member that tells the kinds apart, by its name; undefined if there is only one kind. */
export function kindSchema(
  schema: SchemaParts,
  path: string,
  report: Report,
): Record<string, ZodMiniType> | undefined {
  const key = kindKeyOf(schema)
  const mapping = schema.discriminatorMapping
  const kinds = [...kindsOf(schema).keys()]
  if (mapping && !mapping.isRoot) {
    report.add(
      path,
      'discriminator',
      `the collection holds other kinds too, which are shown and can be changed. Give the router scope: () => ({ ${key}: '${String(mapping.value)}' }), which also sets ${key} in new records. An app takes one model of a collection: for several kinds, mount that of the base in a router for each, with its scope`,
      true,
    )
    // A record without it would be one of the base's.
    return { [key]: oneOf([String(mapping.value)]) }
  }
  if (kinds.length === 0) return undefined
  return { [key]: nullish(oneOf(kinds)) }
}

/** The rule that a document has what its kind requires; undefined if no kind requires anything. */
export function kindRule(schema: SchemaParts): ((payload: Payload) => void) | undefined {
  const key = kindKeyOf(schema)
  const demands = new Map(
    [...kindsOf(schema)].map(([kind, { paths }]) => {
      const own = Object.keys(paths).filter((name) => !Object.hasOwn(schema.paths, name))
      return [kind, own.filter((name) => isDemanded(paths[name] as SchemaType))]
    }),
  )
  if ([...demands.values()].every((names) => names.length === 0)) return undefined
  return (payload) => {
    const record = payload.value
    for (const name of demands.get(String(record[key])) ?? []) {
      const value = valueIn(record, name)
      if (value !== undefined && value !== null) continue
      payload.issues.push({
        code: 'custom',
        path: name.split('.'),
        input: record,
        message: `Required if ${key} is '${String(record[key])}'.`,
      })
    }
  }
}

type Payload = ParsePayload<Record<string, unknown>>

/**
 * What a request sees of the records of a router: the fields that `fieldsFor` leaves, and what `onGet` chooses of them. The
 * names that `onGet` returns may come from a client: those that the model does not have are left out, with one warning each.
 */

import type { ApiRequest } from '../../http/request/request.ts'
import { MisusedRequest, runShielded } from '../../http/request/shield.ts'
import { isHidden, type Model, referenceAt } from '../../model/model.ts'
import { visible } from '../../model/versions/present.ts'
import { idsOf } from '../../ports/services/logger.ts'
import { hasPath } from '../../ports/store/shape.ts'
import { stackText } from '../../ports/values/causes.ts'
import type { Context } from '../engine/route.ts'
import { isReadable, type ReadableFields, readableFields } from '../rules/fields-for.ts'
import type { PopulateOption, ReadOptions } from '../rules/hooks.ts'
import type { Population, Resource, View } from '../setup/resource.ts'
import { type Choice, chosenOf, type SeenThrough } from './choice.ts'

/** How `request` sees the records, with what `choice` leaves of it, or fills in. Throws a 400 for names that are not shown. */
export async function viewFor(
  rules: Resource,
  request: ApiRequest,
  context: Context,
  choice?: Choice,
): Promise<View> {
  const fields = rules.fieldsFor && (await readableFields(rules, request))
  const { host, model } = rules
  // Of records of the same model, no others are seen than of those that refer to them.
  const seen = (one: Model) => (one === model ? fields : host.shownThrough(one, request))
  const view = await wholeView(rules, fields, seen, request, context)
  return choice ? chosenOf(rules, view, choice, seen) : view
}

/** What `fieldsFor` and `onGet` leave. If `onGet` fails, the read goes on without populate and select. */
async function wholeView(
  rules: Resource,
  fields: ReadableFields,
  seen: SeenThrough,
  request: ApiRequest,
  context: Context,
): Promise<View> {
  const { host, mount, model, onGet } = rules
  const plain = fields
    ? { ...rules.plainView, select: visible(model, undefined, fields) }
    : rules.plainView
  if (!onGet) return plain
  try {
    const chosen = (await runShielded(request, onGet, request, context)) ?? {}
    return viewOf(rules, chosen, fields, seen)
  } catch (error) {
    // It may have meant to show less.
    if (error instanceof MisusedRequest) throw error
    const told = { ...idsOf(request), error: stackText(error) }
    host.logger.error(`Router '${mount}': onGet failed, reading without it`, told)
    return { ...plain, cacheable: false }
  }
}

/** The view that `onGet` has chosen, with nothing else than `fields`. */
function viewOf(
  rules: Resource,
  chosen: ReadOptions,
  fields: ReadableFields,
  seen: SeenThrough,
): View {
  const { model } = rules
  const warn = warnerOfNames(rules)
  const select = knownNames(model, namesIn(chosen.select ?? chosen.selects), warn)
  const option = chosen.populate ?? chosen.populates
  return {
    select: visible(model, select, fields),
    populate: populations(rules, [option ?? []].flat(), seen, warn),
    cacheable: true,
  }
}

/** The references that `populate` names, as far as they are seen, and what is seen of their records. */
function populations(
  { host, model }: Resource,
  named: readonly Exclude<PopulateOption, readonly unknown[]>[],
  seen: SeenThrough,
  warn: WarnOfName,
): readonly Population[] {
  // The last entry for a path wins: once filled in, it is not an id any more.
  const found = new Map<string, Population>()
  for (const item of named) {
    const { path, select } = typeof item === 'string' ? { path: item, select: undefined } : item
    const name = referenceAt(model, path)
    const target = name !== undefined && !isHidden(model, path) && host.modelNamed(name)
    if (!target) {
      warn('populate', path, `reference of '${model.name}' to a model`)
      continue
    }
    const known = knownNames(target, namesIn(select), warn)
    // Of another model, what your app names is shown.
    const isNamed = target !== model && known?.[0]?.startsWith('-') === false
    const shown = visible(target, known, isNamed ? undefined : seen(target))
    if (isReadable(seen(model), path)) found.set(path, { path, target, select: shown })
  }
  return [...found.values()]
}

/** Names as a list; a string separates them by blanks. */
function namesIn(select: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof select === 'string' ? select.split(/\s+/).filter(Boolean) : select
}

/** Warns that a name in an option returned by `onGet` is unknown; `why` says where it was looked up. */
type WarnOfName = (option: string, name: string, why: string) => void

/** Clients may send any number of names, so only this many are logged, once each. */
const MAX_WARNINGS = 100
const MAX_NAME_LENGTH = 64

const warned = new WeakMap<object, Set<string>>()

function warnerOfNames({ host, mount }: Resource): WarnOfName {
  const messages = warned.get(host) ?? new Set()
  warned.set(host, messages)
  return (option, name, why) => {
    const short = JSON.stringify(name.slice(0, MAX_NAME_LENGTH))
    const message = `Router '${mount}': onGet's '${option}' names ${short}, which is not a ${why}. It is left out.`
    if (messages.has(message) || messages.size === MAX_WARNINGS) return
    messages.add(message)
    host.logger.warn(message)
  }
}

/** `select` without unknown names: `_id` if none is left, undefined if that removes nothing. Throws a `TypeError`. */
function knownNames(
  model: Model,
  select: readonly string[] | undefined,
  warn: WarnOfName,
): readonly string[] | undefined {
  if (select === undefined || select === null || select.length === 0) return undefined
  if (!Array.isArray(select) || select.some((name) => typeof name !== 'string')) {
    throw new TypeError("onGet: 'select' must be a string or a list of strings")
  }
  const isExcluding = select.every((name) => name.startsWith('-'))
  const known = select.filter((name) => {
    const path = name.startsWith('-') ? name.slice(1) : name
    const found = hasPath(model.shape, path.split('.'))
    if (!found) warn('select', name, `field of '${model.name}'`)
    return found
  })
  if (isExcluding) return known.length > 0 ? known : undefined
  const kept = known.filter((name) => !name.startsWith('-'))
  return kept.length > 0 ? kept : ['_id']
}

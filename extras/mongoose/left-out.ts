/** What of a schema cannot be carried over: functions, and options that decide how Mongoose itself works. */

import type { Report } from './report.ts'
import type { Hooks, SchemaParts, SchemaType } from './structure.ts'
import { reportVirtuals } from './virtuals.ts'

/** The options of a path that are carried over, that indexes.ts reads, or that say nothing of records. */
const CARRIED = new Set([
  '$skipDiscriminatorCheck',
  '_id',
  'auto',
  'default',
  'enum',
  'excludeIndexes',
  'index',
  'lowercase',
  'match',
  'max',
  'maxLength',
  'maxlength',
  'min',
  'minLength',
  'minlength',
  'of',
  'ref',
  'refPath',
  'required',
  'select',
  'sparse',
  'subtype',
  'text',
  'timestamps',
  'trim',
  'type',
  'unique',
  'uppercase',
  'validate',
  'get',
  'set',
])

const NOTES: Readonly<Record<string, string>> = {
  get: 'getters do not run: what is stored is shown. Use `output`',
  set: 'setters do not run. Use a `validate` hook',
  validate: 'your own validators do not run. Use a `validate` hook',
  immutable: 'clients may change it. Name it in `blockedFields: { update: […] }`',
  alias: 'clients use the name that is stored',
  transform: 'does not run. Use `output`',
  cast: 'does not run: values are cast by their type',
  expires: 'the index that Mongoose made goes on removing documents; fieldgate makes none',
}

/** Without these, values are shown or stored otherwise than before. */
const SERIOUS = new Set(['get', 'set', 'validate', 'immutable', 'transform'])

/** Where what is found in a schema goes, and the option in which its paths name their type. */
export interface Finding {
  readonly report: Report
  readonly typeKey: string
}

/** Reports what of the path itself is left out, except `known`. */
export function reportPath(
  type: SchemaType,
  path: string,
  { report, typeKey }: Finding,
  known: readonly string[] = [],
): void {
  const { options } = type
  const named = Object.keys(options).filter((name) => options[name] !== undefined)
  const others = named.filter((name) => !CARRIED.has(name) && name !== typeKey)
  const found = new Set([...others, ...functionsOf(type)])
  for (const feature of [...found].filter((name) => !known.includes(name))) {
    const note = NOTES[feature] ?? 'an option that only a plugin or Mongoose reads'
    // Elsewhere it is the message of a value that cannot be cast.
    const isCast = feature === 'cast' && ['function', 'boolean'].includes(typeof options.cast)
    report.add(path, feature, note, SERIOUS.has(feature) || isCast)
  }
  const changes = changesOf(type)
  if (changes.length > 0) {
    report.add(
      path,
      changes.join(', '),
      'applied to what is stored, but not to the values of filters: clients send these as they are stored',
    )
  }
  for (const { type: rule, min, max } of type.validators) {
    if (typeof (min ?? max) !== 'function') continue
    report.add(
      path,
      String(rule),
      'a function: this bound is not checked. Use a `validate` hook',
      true,
    )
  }
}

/** The options by which strings are changed. */
function changesOf({ options, instance }: SchemaType): string[] {
  if (instance !== 'String') return []
  return ['trim', 'lowercase', 'uppercase'].filter((name) => options[name])
}

/** The functions that Mongoose runs on values of the path. */
export function functionsOf(type: SchemaType): string[] {
  const { options, validators, getters, setters, instance } = type
  const own = changesOf(type)
  const isSet = options.set ?? (!options.immutable && !options.auto && setters.length > own.length)
  // Mongoose 8 reads every UUID with a getter of its own.
  const isGot = options.get ?? (instance !== 'UUID' && getters.length > 0)
  const isValidated = options.validate ?? validators.some(({ type }) => type === 'user defined')
  return [
    ...(isSet ? ['set'] : []),
    ...(isGot ? ['get'] : []),
    ...(isValidated ? ['validate'] : []),
  ]
}

/** What each of Mongoose's own hooks is called. */
const OWN_HOOK =
  /^(?:validateBeforeSave|timestampsPreSave|virtualPreInit|_setTimestamps\w*|(?:saveSubdocs|shardingPlugin|trackTransaction)(?:Pre|Post)\w*)$/

/** Reports the functions of a schema, and its options that have no counterpart. `path` is that of a subdocument. */
export function reportSchema(schema: SchemaParts, path: string, report: Report): void {
  reportFunctions(schema, path, report)
  reportVirtuals(schema, path, report, showsVirtuals(optionOf(schema, 'toJSON', path)))
  for (const [feature, note, isUsed, serious] of OPTIONS) {
    if (isUsed(optionOf(schema, feature, path))) report.add(path, feature, note(path), serious)
  }
}

/** An option of a schema; for a whole document, what `mongoose.set()` says of all of them is in it. */
function optionOf({ options, base }: SchemaParts, feature: string, path: string): unknown {
  const common = HIDING.has(feature) && path === '' ? base?.options?.[feature] : undefined
  return isObject(common) ? { ...common, ...(options[feature] as object) } : options[feature]
}

/** What makes JSON of a document, as an option of a schema and as a method. */
const HIDING = new Set(['toJSON', 'toObject'])

const isTrue = (value: unknown): boolean => Boolean(value)
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
const showsVirtuals = (toJSON: unknown): boolean => isObject(toJSON) && toJSON.virtuals === true
const isTransforming = (value: unknown): boolean =>
  isObject(value) && typeof value.transform === 'function'

/** An option of schemas: what becomes of it in the schema of a path, and whether that is serious. */
type Option = readonly [
  name: string,
  note: (path: string) => string,
  isUsed: (value: unknown) => boolean,
  serious?: true,
]

const SHOWN = 'does not run: what it removes is shown. Use `hidden` or `output`'
const transformed = () => `its transform ${SHOWN}`

const OPTIONS: readonly Option[] = [
  [
    'strict',
    (path) =>
      path === ''
        ? 'what no path declares is never shown and stays as it is, and is dropped from requests'
        : 'what no path declares is any JSON value',
    (value) => value === false,
  ],
  [
    'strict',
    () => 'what no path declares is dropped from requests, and such requests are not refused',
    (value) => value === 'throw',
    true,
  ],
  [
    'collation',
    () =>
      'a collection that was made with it compares by it: filters, sorts and unique fields too. One that fieldgate makes compares exactly',
    isTrue,
  ],
  ['toJSON', transformed, isTransforming, true],
  ['toObject', transformed, isTransforming, true],
  [
    'optimisticConcurrency',
    () => 'every write counts the version key up, and none compares it. Clients send If-Match',
    isTrue,
  ],
  ['capped', () => 'a collection that fieldgate makes is not capped', isTrue],
  [
    'timeseries',
    () =>
      'MongoDB refuses to change or remove single records of such a collection. Give the router access: { update: false, remove: false }',
    isTrue,
    true,
  ],
  ['encryptionType', () => 'fields are not encrypted', isTrue, true],
]

function reportFunctions(schema: SchemaParts, path: string, report: Report): void {
  reportHooks('pre', schema.s?.hooks?._pres, path, report)
  reportHooks('post', schema.s?.hooks?._posts, path, report)
  for (const { fn, opts } of schema.plugins ?? []) {
    if (isOwnPlugin(opts)) continue
    const feature = `plugin ${nameOf(fn)}`
    report.add(path, feature, 'its paths and indexes are carried over, its functions are not')
  }
  for (const kind of ['methods', 'statics', 'query'] as const) {
    const names = Object.keys(schema[kind] ?? {}).filter((name) => name !== 'initializeTimestamps')
    for (const name of names) {
      const isHiding = kind === 'methods' && HIDING.has(name)
      const note = isHiding ? SHOWN : 'code of yours, which routes of yours may call'
      report.add(path, `${kind} ${name}`, note, isHiding)
    }
  }
}

/** Mongoose's own plugins are marked. */
function isOwnPlugin(opts: unknown): boolean {
  return (opts as { deduplicate?: boolean } | undefined)?.deduplicate === true
}

/** Reports the plugins of all schemas, for a schema that no model has been made of. */
export function reportGlobalPlugins({ base }: SchemaParts, report: Report): void {
  for (const [fn, opts] of base?.plugins ?? []) {
    if (isOwnPlugin(opts)) continue
    const note =
      'is not part of the schema until Mongoose makes a model. Give fromMongoose the model'
    report.add('', `plugin ${nameOf(fn)}`, note, true)
  }
}

function reportHooks(
  stage: 'pre' | 'post',
  hooks: Hooks = new Map(),
  path: string,
  report: Report,
): void {
  for (const [name, list] of hooks) {
    if (list.every(({ fn }) => isOwn(fn))) continue
    const [note, serious] = hookNote(stage, name)
    report.add(path, `${stage}('${name}')`, `does not run: ${note}`, serious)
  }
}

const READS =
  /^(?:find|findOne|count|countDocuments|estimatedDocumentCount|distinct|aggregate|init)$/
const REMOVALS = /remove|delete/i

/** What to use instead of a hook, and whether records are shown or stored wrongly without it. */
function hookNote(stage: 'pre' | 'post', name: string): readonly [string, boolean] {
  if (READS.test(name)) {
    return stage === 'pre' && name !== 'init'
      ? ['what it leaves out is shown. Give the router a `scope`', true]
      : ['records are shown as they are stored. Use `output`', true]
  }
  if (REMOVALS.test(name)) {
    return stage === 'pre'
      ? ['what it refuses to remove is removed. Use `beforeRemove`', true]
      : ['use `afterRemove`', false]
  }
  if (stage === 'post') return ['use `runAfterCreate` and `afterUpdate`', false]
  return [
    'what it computes or refuses is stored as it was sent, a password without its hash. Use a `validate` hook, which runs for POST and PATCH',
    true,
  ]
}

function nameOf(given: unknown): string {
  return (given as { name: string }).name
}

/** Whether Mongoose brought a hook along. */
function isOwn(hook: unknown): boolean {
  return Object.getOwnPropertySymbols(hook).length > 0 || OWN_HOOK.test(nameOf(hook))
}

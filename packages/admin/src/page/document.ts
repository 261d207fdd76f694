/**
 * What the OpenAPI document says of an app: its resources with their fields and routes, and its accounts.
 *
 * @module
 */

import { type Field, fieldsOf, nameIn, type Schema, Schemas, titleOf } from './fields.ts'

/** What a caller can do with records. */
export type Action =
  | ('list' | 'query' | 'read' | 'create' | 'update' | 'delete')
  // What routes below a record do.
  | ('history' | 'restore')

interface Parameter {
  readonly name: string
  readonly schema?: Schema
}

/** A route, as the document has it. */
export interface Operation {
  readonly parameters?: readonly Parameter[]
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
  readonly summary?: string
  /** The mount. */
  readonly tags?: readonly string[]
  readonly 'x-fieldgate'?: {
    readonly account?: string
    readonly model?: string
    readonly action?: Action
    readonly roles?: readonly (readonly string[])[]
  }
}

type Content = Readonly<
  Record<string, { schema?: Schema; encoding?: Readonly<Record<string, { contentType?: string }>> }>
>

/** The document, as far as it is read here. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> }
}

/** What records can be filtered by. */
export interface Filterable {
  readonly field: Field
  /** The operators, as a QUERY has them. */
  readonly operators: readonly string[]
}

/** The records of a mount. */
export interface Resource {
  /** The name in paths of this page. */
  readonly name: string
  readonly mount: string
  readonly model: string
  readonly title: string
  readonly actions: Readonly<Partial<Record<Action, Operation>>>
  /** What readers see. */
  readonly fields: readonly Field[]
  readonly writable: { readonly create: readonly Field[]; readonly update: readonly Field[] }
  readonly filters: readonly Filterable[]
  readonly sortable: ReadonlySet<string>
  readonly isSearchable: boolean
  readonly isByCursor: boolean
  readonly hasCsv: boolean
  /** Whether the list can be followed. */
  readonly isLive: boolean
  readonly expandable: readonly string[]
  /** What groups can be made of, where the router allows it. */
  readonly groups: { readonly by: readonly string[]; readonly of: readonly string[] } | undefined
  /** Options of `admin()`. */
  readonly columns: readonly string[] | undefined
  /** Whether they are the users of the app, whose routes are those of an auth router. */
  readonly isUsers: boolean
}

/** Routes of an auth router by their names, with their paths. */
export interface Accounts {
  readonly mount: string
  readonly routes: Readonly<
    Record<string, { readonly path: string; readonly operation: Operation }>
  >
}

/** An app, as its document describes it. */
export interface AppShape {
  readonly resources: readonly Resource[]
  readonly accounts: Accounts | undefined
  /** The path of batches. */
  readonly batch: string | undefined
}

/** How the developer wants resources to be shown, by their mounts without the first slash. */
export type Taste = Readonly<
  Record<string, { title?: string; list?: readonly string[]; form?: readonly string[] }>
>

/** Reads a document. */
export function shapeOf(document: Document, taste: Taste): AppShape {
  const schemas = new Schemas(document.components?.schemas ?? {})
  const { mounts, accounts, batch } = routesIn(document)
  const resources = [...mounts]
    .filter(([mount, { list, query }]) => !mount.includes('{') && (list ?? query))
    .map(([mount, actions]) => resourceOf(mount, actions, schemas, taste))
  const [found] = [...accounts].filter(([, routes]) => routes.login)
  const byPasskey = globalThis.PublicKeyCredential ? [] : ['createPasskey', 'passkeyLogin']
  for (const name of byPasskey) delete found?.[1][name]
  const first = found && { mount: found[0], routes: found[1] }
  const users = first && usersOf(first, schemas, taste)
  return { resources: users ? [...resources, users] : resources, accounts: first, batch }
}

/** The routes of the document, by what they are for. */
function routesIn(document: Document) {
  const mounts = new Map<string, Partial<Record<Action, Operation>>>()
  const accounts = new Map<string, Record<string, { path: string; operation: Operation }>>()
  let batch: string | undefined
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const operation of Object.values(operations)) {
      const { 'x-fieldgate': { account, action } = {}, tags: [at = ''] = [] } = operation
      const mount = mountOf(path, action)
      if (operation.summary === 'Several writes as one: all or nothing') batch = path
      if (action) mounts.set(mount, { ...mounts.get(mount), [action]: operation })
      if (account) accounts.set(at, { ...accounts.get(at), [account]: { path, operation } })
    }
  }
  return { mounts, accounts, batch }
}

/** The mount that a route for records belongs to. */
function mountOf(path: string, action: Action | undefined): string {
  const isBelow = action === 'history' || action === 'restore'
  return path.replace(isBelow ? /\/\{id\}\/\w+$/ : /\/\{id\}$/, '')
}

function resourceOf(
  mount: string,
  actions: Partial<Record<Action, Operation>>,
  schemas: Schemas,
  taste: Taste,
): Resource {
  const { list, query, read, create, update } = actions
  const key = mount.slice(1)
  const own = taste[key] ?? {}
  const { content = {} } = (list ?? query)?.responses[200] ?? {}
  const shown = schemas.element(jsonOf(content))
  const one = schemas.member(jsonOf(read?.responses[200]?.content), 'data')
  const body = schemas.resolved(jsonOf(query?.requestBody?.content))
  const names = new Set(list?.parameters?.map(({ name }) => name))
  const record = one.properties ? one : shown
  const ordered = (fields: readonly Field[]) => inOrder(fields, own.form)
  const fields = withFiles(fieldsOf(schemas, record), [create, update])
  const created = written(create, schemas)
  // A PATCH requires nothing, but what a record must have, if only by a default, cannot be emptied.
  const asRequired = (field: Field): Field => ({
    ...field,
    isRequired:
      (created.find(({ name }) => name === field.name) ?? field).isRequired || !canBeEmpty(field),
  })
  return {
    ...{ mount, actions, fields, isUsers: false },
    name: nameIn(key),
    model: (list ?? query)?.['x-fieldgate']?.model ?? key,
    title: own.title ?? titleOf(key),
    writable: {
      create: ordered(created),
      update: ordered(written(update, schemas).map(asRequired)),
    },
    filters: filtersOf(body, list, schemas, fields),
    sortable: sortableOf(body, list, schemas),
    isSearchable: names.has('s') || body.properties?.search !== undefined,
    isByCursor: names.has('cursor') || body.properties?.cursor !== undefined,
    hasCsv: content['text/csv'] !== undefined,
    isLive: content['text/event-stream'] !== undefined,
    expandable: schemas.options(body.properties?.expand ?? parameterOf(list, 'expand')),
    groups: groupsOf(body, schemas),
    columns: own.list,
  }
}

/** The users of the app, where the caller may list them. */
function usersOf(
  { mount, routes }: Accounts,
  schemas: Schemas,
  taste: Taste,
): Resource | undefined {
  const list = routes.listUsers?.operation
  const path = routes.listUsers?.path
  if (!list || !path) return undefined
  const actions = {
    list,
    ...(routes.getUser && { read: routes.getUser.operation }),
    ...(routes.updateUser && { update: routes.updateUser.operation }),
    ...(routes.deleteUser && { delete: routes.deleteUser.operation }),
  }
  const key = `${mount}/users`.slice(1)
  return {
    ...resourceOf(path, actions, schemas, { [path.slice(1)]: taste[key] ?? { title: 'Users' } }),
    isUsers: true,
    model: 'User',
  }
}

const canBeEmpty = ({ isNullable, kind }: Field) => isNullable || kind === 'json' || kind === 'file'

function jsonOf(content: Content | undefined): Schema {
  return content?.['application/json']?.schema ?? {}
}

function parameterOf(operation: Operation | undefined, name: string): Schema {
  return operation?.parameters?.find((one) => one.name === name)?.schema ?? {}
}

/** The fields that a write takes. Those that take files are in its form alone. */
function written(operation: Operation | undefined, schemas: Schemas): readonly Field[] {
  const { content = {} } = operation?.requestBody ?? {}
  const plain = fieldsOf(schemas, jsonOf(content))
  const form = fieldsOf(schemas, content['multipart/form-data']?.schema ?? {})
  if (form.length === 0) return plain
  return withFiles(form, [operation]).flatMap((field) => {
    const [same] = plain.filter(({ name }) => name === field.name)
    // Null takes a file away, which only JSON can say.
    if (field.kind === 'file') return [{ ...field, isNullable: same?.isNullable === true }]
    return same ? [same] : []
  })
}

/** `fields`, where those that a form takes files for are files. */
function withFiles(
  fields: readonly Field[],
  operations: readonly (Operation | undefined)[],
): readonly Field[] {
  const accepted = new Map<string, string>()
  for (const operation of operations) {
    const form = operation?.requestBody?.content['multipart/form-data']
    for (const [name, { contentType }] of Object.entries(form?.encoding ?? {})) {
      if (contentType !== 'application/json') accepted.set(name, contentType ?? '')
    }
  }
  return fields.map((field): Field => {
    const accept = accepted.get(field.name)
    const isMany = field.kind === 'list'
    return accept === undefined ? field : { ...field, kind: 'file', accept, isMany }
  })
}

/** What lists can be filtered by: by a QUERY in many ways, by a URL for equal values. */
function filtersOf(
  body: Schema,
  list: Operation | undefined,
  schemas: Schemas,
  fields: readonly Field[],
): readonly Filterable[] {
  const found = new Map<string, Filterable>()
  const known = (name: string, schema: Schema): Field =>
    fields.find((field) => field.name === name) ?? schemas.field(name, schema)
  const byBody = schemas.resolved(body.properties?.filter ?? {}).properties ?? {}
  for (const parameter of list?.parameters ?? []) {
    const { name, schema = {} } = parameter as Parameter & { style?: string; in?: string }
    if (!fields.some((field) => field.name === name)) continue
    found.set(name, { field: known(name, schema), operators: ['eq'] })
  }
  for (const [name, schema] of Object.entries(byBody)) {
    if (name === 'or') continue
    const [value = {}] = schema.anyOf ?? []
    const operators = (schema.anyOf ?? []).flatMap(({ type, properties }) =>
      type === 'object' ? Object.keys(properties ?? {}) : [],
    )
    found.set(name, { field: known(name, value), operators })
  }
  return [...found.values()]
}

/** What records can be sorted by: a QUERY also names what their groups can be. */
function sortableOf(body: Schema, list: Operation | undefined, schemas: Schemas): Set<string> {
  const named = (schema: Schema = {}) =>
    new Set(schemas.options(schema).map((key) => key.replace(/^-/, '')))
  const own = named(parameterOf(list, 'sort'))
  if (own.size > 0) return own
  // With `legacyMode`, a URL may name anything.
  const { sort, by } = body.properties ?? {}
  const groups = [...schemas.options(by ?? {}), 'count']
  return new Set([...named(sort)].filter((key) => !groups.includes(key) && !/^\w+\./.test(key)))
}

function groupsOf(body: Schema, schemas: Schemas): Resource['groups'] {
  const by = schemas.options(body.properties?.by ?? {})
  const of = schemas.options(body.properties?.aggregate?.properties?.sum ?? {})
  return by.length > 0 ? { by, of } : undefined
}

function inOrder(fields: readonly Field[], names: readonly string[] | undefined): readonly Field[] {
  if (!names) return fields
  return names.flatMap((name) => fields.filter((field) => field.name === name))
}

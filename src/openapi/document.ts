import type { App } from '../app/app.ts'
import { routeServedBy, type ServedRoute } from '../auth/instance/instance.ts'
import * as rule from '../model/option-rules.ts'
import { isNames, type Rule } from '../model/option-rules.ts'
import { plural } from '../model/plural.ts'
import { type Host, hostOf } from '../records/engine/host.ts'
import { type Guard, patternOf, type Route } from '../records/engine/route.ts'
import { servedBy } from '../records/setup/serving.ts'
import { accountOperation } from './accounts/accounts.ts'
import { recordOperation } from './records/records.ts'
import { capitalised, firstFree, nameFrom, Schemas } from './schemas/named-schemas.ts'
import { otherOperation } from './schemas/others.ts'
import {
  COMMON_RESPONSES,
  COMMON_SCHEMAS,
  type Described,
  failures,
  HEADERS,
} from './schemas/responses.ts'
import { TEXT } from './schemas/schemas.ts'
import { type Demands, demandsOf, schemeOf } from './schemas/security.ts'
import type { OpenApiDocument, Operation, Parameter, PathItem } from './specification.ts'

/** What a document says of the app as a whole. */
export interface DocumentOptions {
  /** The name of the API. */
  readonly title: string
  /** The version of the API, not of OpenAPI. */
  readonly version: string
  /** What the API is for, in Markdown. */
  readonly description?: string
  /** The URLs that serve the app. Default: the app's `basePath`, else `'/'`. */
  readonly servers?: readonly string[]
}

/** The versions of OpenAPI that a document can be in. */
export type OpenApiVersion = '3.2' | '3.1'

const VERSIONS: Readonly<Record<OpenApiVersion, string>> = { '3.2': '3.2.0', '3.1': '3.1.1' }

/**
 * The OpenAPI document of what `app` has mounted so far. Version 3.1 has no QUERY operations. Throws a `TypeError` if
 * an option makes no sense.
 *
 * ```ts
 * console.log(JSON.stringify(document(app, { title: 'Atlas', version: '1.0' })))
 * ```
 */
export function document(
  app: Pick<App, 'store'>,
  options: DocumentOptions,
  version: OpenApiVersion = '3.2',
): OpenApiDocument {
  return documentOf(hostOf(app?.store, 'document(app, options)'), options, version)
}

export function documentOf(
  { guards, mounted, basePath }: Pick<Host, 'guards' | 'mounted' | 'basePath'>,
  options: DocumentOptions,
  version: OpenApiVersion,
): OpenApiDocument {
  checkOptions(options ?? {}, version)
  const paper = new Paper(version)
  for (const { mount, routes, early } of mounted) {
    for (const route of routes) paper.add(mount, route, early ? [] : guards)
  }
  const { title, description, servers = [basePath || '/'] } = options
  const info = {
    title,
    version: options.version,
    ...(description !== undefined && { description }),
  }
  return {
    openapi: VERSIONS[version],
    info,
    servers: servers.map((url) => ({ url })),
    ...paper.parts(),
  }
}

const filled: Rule = {
  must: 'be a string that is not empty',
  test: (value) => typeof value === 'string' && value !== '',
}
const RULES: Readonly<Record<string, Rule>> = {
  title: filled,
  version: filled,
  description: rule.text,
  servers: { must: 'be a list of URLs', test: isNames },
  script: rule.whatever,
}

export function checkOptions(options: Partial<DocumentOptions>, of: OpenApiVersion): void {
  rule.checkOptions(options, RULES, 'openapi')
  const { title = '', version = '' } = options
  rule.checkOptions({ title, version }, RULES, 'openapi')
  if (!Object.hasOwn(VERSIONS, of)) {
    throw new TypeError(`openapi: the version is '3.2' or '3.1' (got '${of}')`)
  }
}

/** The tag of routes that nothing is known of. */
const OTHERS = 'Other routes'

interface Listed {
  readonly path: string
  readonly names: readonly string[]
  readonly operations: Record<string, Operation>
}

class Paper {
  readonly #version: OpenApiVersion
  readonly #schemas = new Schemas()
  readonly #ids = new Set<string>()
  readonly #paths = new Map<string, Listed>()
  readonly #tags = new Map<string, string>()
  readonly #schemes = new Set<string>()

  constructor(version: OpenApiVersion) {
    this.#version = version
    for (const [name, schema] of Object.entries(COMMON_SCHEMAS)) this.#schemas.own(name, schema)
  }

  /** Adds a route, unless a route before it serves the same. */
  add(mount: string, route: Route, guards: readonly Guard[]): void {
    const method = route.method.toLowerCase()
    if (route.isUnlisted || (method === 'query' && this.#version === '3.1')) return
    const auth = routeServedBy(route.handler)
    const demands = demandsOf([...guards, ...(auth?.guards ?? route.guards)])
    if (!demands.lets(route.method)) return
    const at = this.#pathOf(patternOf(mount, route))
    if (at.operations[method]) return
    const { described, tag, about } = this.#served(mount, route, auth)
    const { path = {}, parameters = [], requestBody } = described
    const name = mount || '/'
    if ((this.#tags.get(name) ?? OTHERS) === OTHERS) this.#tags.set(name, tag)
    for (const scheme of demands.security.flatMap(Object.keys)) this.#schemes.add(scheme)
    const inPath = at.names.map((one): Parameter => {
      return { name: one, in: 'path', required: true, schema: path[one] ?? TEXT }
    })
    const isOpen = described.isOpen || demands.isOpen
    at.operations[method] = {
      operationId: this.#idOf(described, mount),
      ...shown(described, demands),
      tags: [name],
      'x-fieldgate': { ...about, roles: demands.roles },
      security: demands.security,
      parameters: [...inPath, ...parameters],
      ...(requestBody && { requestBody }),
      responses: {
        ...described.successes,
        ...failures([...described.refusals, ...demands.refusals], isOpen, described.failure),
      },
    }
  }

  /** Everything but the head of the document. */
  parts(): Pick<OpenApiDocument, 'tags' | 'paths' | 'components'> {
    const listed = [...this.#paths.values()].map(({ path, operations }) => [path, operations])
    const paths: Readonly<Record<string, PathItem>> = Object.fromEntries(listed)
    const responses = used('responses', COMMON_RESPONSES, paths)
    const schemas = this.#schemas.all()
    const schemes = [...this.#schemes].map((name) => [name, schemeOf(name)])
    return {
      tags: [...this.#tags].map(([name, description]) => ({ name, description })),
      paths,
      components: {
        schemas: used('schemas', schemas, { paths, responses, schemas }),
        responses,
        headers: used('headers', HEADERS, { paths, responses }),
        ...(schemes.length > 0 && { securitySchemes: Object.fromEntries(schemes) }),
      },
    }
  }

  /** What a route serves; `about` says it in words that programs can rely on. */
  #served(mount: string, route: Route, auth: ServedRoute | undefined) {
    const served = servedBy(route.handler)
    const schemas = this.#schemas.at(`At${capitalised(mount)}`)
    if (auth) {
      const described = accountOperation(auth, served, schemas)
      return { described, tag: 'Accounts and sessions', about: { account: auth.route.name } }
    }
    if (!served) return { described: otherOperation(mount, route, this.#schemas), tag: OTHERS }
    const { name } = served.resource.model
    const about = { model: name, action: served.operation }
    return { described: recordOperation(served, schemas), tag: `Records of ${plural(name)}`, about }
  }

  /** An id of its own: the second `listCities`, on `/feed/cities`, is `listCitiesAtFeedCities`. */
  #idOf({ id }: Described, mount: string): string {
    const short = nameFrom(id)
    const long = `${short}At${capitalised(mount) || 'Root'}`
    const own = firstFree(short, long, (name) => !this.#ids.has(name))
    this.#ids.add(own)
    return own
  }

  /** Two patterns that differ only in the names of their parameters are one path. What `*` matches is called `rest`. */
  #pathOf(pattern: string): Listed {
    const names: string[] = []
    const path = pattern.replace(/:(\w+)[?+]?|\*/g, (_, name = 'rest') => {
      names.push(name)
      return `{${name}}`
    })
    const key = path.replace(/\{\w+\}/g, '{}')
    const found = this.#paths.get(key) ?? { path, names, operations: {} }
    this.#paths.set(key, found)
    return found
  }
}

/** Those of `components` that something in `where` refers to. */
function used<T>(
  kind: string,
  components: Readonly<Record<string, T>>,
  where: unknown,
): Readonly<Record<string, T>> {
  const text = JSON.stringify(where)
  const isUsed = (name: string) => text.includes(`"#/components/${kind}/${name}"`)
  return Object.fromEntries(Object.entries(components).filter(([name]) => isUsed(name)))
}

function shown(
  { summary, description }: Described,
  { texts }: Demands,
): Pick<Operation, 'summary' | 'description'> {
  const demand = texts.length > 0 ? `Only for: ${texts.join(', ')}.` : undefined
  const text = [description, demand].filter((part) => part !== undefined).join(' ')
  return { ...(summary !== undefined && { summary }), ...(text !== '' && { description: text }) }
}
